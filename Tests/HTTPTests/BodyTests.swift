import FoundationEssentials
import Testing
import Waiting

@testable import HTTP

@Suite(.timeLimit(.minutes(1))) struct BodyTests {
  private static func echo(limit: Int) -> @Sendable (Request) -> ResponsePlan {
    { _ in .collectingBody(limit: limit, deadline: .seconds(10)) { .bytes(200, $0, type: "a/b") } }
  }

  @Test func `reads a sized and a chunked body`() async throws {
    try await TestServer.with(Self.echo(limit: 100)) { served in
      let client = RawClient(served.port)
      #expect(client.ask("POST", "/", body: "hello").text == "hello")
      client.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
      client.send("3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")
      #expect(client.reply().text == "abcde")
      #expect(client.ask("POST", "/").text == "")
    }
  }

  @Test func `rejects a declared length beyond the limit before the body arrives`() async throws {
    try await TestServer.with(Self.echo(limit: 4)) { served in
      let client = RawClient(served.port)
      client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5000000000\r\n\r\n")
      let reply = client.reply()
      #expect(reply.status == 413)
      #expect(reply.fields["content-type"] == "application/problem+json")
      #expect(client.isClosed())
    }
  }

  @Test func `rejects a chunked body as soon as it is beyond the limit`() async throws {
    try await TestServer.with(Self.echo(limit: 4)) { served in
      let client = RawClient(served.port)
      client.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
      client.send("5\r\nabcde\r\n")
      let reply = client.reply()
      #expect(reply.status == 413)
      #expect(reply.fields["content-type"] == "application/problem+json")
      #expect(client.isClosed())
    }
  }

  @Test func `rejects a body of small chunks as soon as they are beyond the limit`() async throws {
    try await TestServer.with(Self.echo(limit: 4)) { served in
      let client = RawClient(served.port)
      client.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
      client.send("3\r\nabc\r\n2\r\nde\r\n")
      #expect(client.reply().status == 413)
      #expect(client.isClosed())
    }
  }

  @Test(arguments: [(65_536, 200), (65_537, 413)])
  func `a body that is not needed is read up to 64 KiB`(size: Int, status: Int) async throws {
    try await TestServer.with({ _ in .immediate(.text(200, "ok")) }) { served in
      let client = RawClient(served.port)
      client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: \(size)\r\n\r\n")
      if status == 200 { client.send([UInt8](repeating: 7, count: size)) }
      #expect(client.reply().status == status)
    }
  }

  @Test func `sends an error before the body is read, and the sender can read it`() async throws {
    try await TestServer.with({ _ in .immediate(.problem(401, "Who are you?")) }) { served in
      let client = RawClient(served.port)
      client.send("PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 3000000\r\n\r\n")
      client.send([UInt8](repeating: 65, count: 1_000_000))
      #expect(client.reply().status == 401)
    }
  }

  @Test func `sends 100 Continue only if it reads the body`() async throws {
    try await TestServer.with({ request in
      request.segments == ["no"] ? .immediate(.problem(403, "No.")) : Self.echo(limit: 9)(request)
    }) { served in
      let willing = RawClient(served.port)
      let head = " HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n"
      willing.send("POST /yes" + head)
      #expect(willing.reply().status == 100)
      willing.send("hi")
      #expect(willing.reply().text == "hi")
      let unwilling = RawClient(served.port)
      unwilling.send("POST /no" + head)
      #expect(unwilling.reply().status == 403)
    }
  }

  @Test func `sends no 100 Continue to HTTP 1-0 clients`() async throws {
    try await TestServer.with(Self.echo(limit: 9)) { served in
      let client = RawClient(served.port)
      client.send("POST / HTTP/1.0\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\nhi")
      let reply = client.reply()
      #expect(reply.status == 200 && reply.text == "hi")
    }
  }

  @Test func `discards a small body that is not needed and keeps the connection`() async throws {
    try await TestServer.with({ _ in .immediate(.text(200, "ok")) }) { served in
      let client = RawClient(served.port)
      for _ in 0..<3 { #expect(client.ask("POST", "/", body: "unwanted").text == "ok") }
    }
  }

  @Test func `saves a body to a file and deletes it after the response`() async throws {
    let folder = FileManager.default.temporaryDirectory.path
    try await TestServer.with({ _ in
      .savingBody(limit: 2_000_000, folder: folder, deadline: .seconds(10)) { saved in
        let content = FileManager.default.contents(atPath: saved.path)
        return .text(200, "\(saved.size) \(content?.count ?? 0) \(saved.path)")
      }
    }) { served in
      let client = RawClient(served.port)
      let body = String(repeating: "x", count: 1_000_000)
      let saved = client.ask("PUT", "/", body: body).text.split(separator: " ")
      try #require(saved.count == 3)
      #expect(saved[0] == "1000000" && saved[1] == "1000000")
      // The answer may be here before the work that gave it has let go of the file.
      try await eventually("the file is deleted") {
        !FileManager.default.fileExists(atPath: String(saved[2]))
      }
    }
  }

  @Test func `leaves no file behind when the client disconnects`() async throws {
    let folder =
      FileManager.default.temporaryDirectory.path + "/gone-\(UInt64.random(in: 0...99_999_999))"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    func files() throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: folder)
    }
    try await TestServer.with({ _ in
      .savingBody(limit: 100, folder: folder, deadline: .seconds(10)) { _ in .empty(204) }
    }) { served in
      do {
        let client = RawClient(served.port)
        client.send("PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\nhalf")
        try await eventually("a file is made") { try !files().isEmpty }
      }
      try await served.connectionsClosed()
      try await eventually("the file is removed") { try files().isEmpty }
    }
  }
}
