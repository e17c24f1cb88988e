import Glibc
import Primitives
import Testing

@testable import HTTP

@Suite(.timeLimit(.minutes(1))) struct ServerTests {
  @Test func `answers several requests on one connection`() async throws {
    try await TestServer.with({ .immediate(.text(200, "\($0.method) \($0.segments)")) }) { served in
      let client = RawClient(served.port)
      for _ in 0..<3 {
        let reply = client.ask("GET", "/api/a%20b?x=1")
        #expect(reply.status == 200)
        #expect(reply.text == #"GET ["api", "a b"]"#)
        #expect(reply.fields["content-length"] == "18")
        #expect(reply.fields["x-content-type-options"] == "nosniff")
        #expect(reply.fields["date"] != nil)
      }
    }
  }

  @Test func `answers pipelined requests in order`() async throws {
    try await TestServer.with({ request in
      guard request.segments == ["slow"] else { return .immediate(.text(200, request.target)) }
      return .asynchronous(deadline: .seconds(10)) { .text(200, "slow") }
    }) { served in
      let client = RawClient(served.port)
      let targets = ["/1", "/slow", "/2", "/slow", "/3"]
      client.send(targets.map { "GET \($0) HTTP/1.1\r\nHost: x\r\n\r\n" }.joined())
      for target in targets {
        #expect(client.reply().text.drop { $0 == "/" } == target.dropFirst())
      }
    }
  }

  @Test func `a 304 without content says nothing of its length`() async throws {
    try await TestServer.with({ _ in .immediate(.empty(304)) }) { served in
      let client = RawClient(served.port)
      for _ in 0..<2 {
        let reply = client.ask("GET", "/")
        #expect(reply.status == 304 && reply.fields["content-length"] == nil)
      }
    }
  }

  @Test func `answers a HEAD with the fields of a GET`() async throws {
    try await TestServer.with({ _ in .immediate(.text(200, "hello")) }) { served in
      let client = RawClient(served.port)
      let head = client.ask("HEAD", "/")
      #expect(head.fields["content-length"] == "5")
      #expect(client.ask("GET", "/").text == "hello")
    }
  }

  @Test func `slow responses do not delay quick ones`() async throws {
    let (gate, opener) = AsyncStream<Void>.makeStream()
    try await TestServer.with(
      { request in
        guard request.segments == ["slow"] else { return .immediate(.text(200, "quick")) }
        return .asynchronous(deadline: .seconds(10)) {
          for await _ in gate { break }
          return .text(200, "slow")
        }
      }, threads: 1
    ) { served in
      let slow = RawClient(served.port)
      slow.send("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
      #expect(RawClient(served.port).ask("GET", "/").text == "quick")
      opener.yield()
      #expect(slow.reply().text == "slow")
    }
  }

  @Test func `answers 503 when a response misses its deadline`() async throws {
    try await TestServer.with({ _ in
      .asynchronous(deadline: .milliseconds(50)) {
        try? await Task.sleep(for: .seconds(60))
        return .text(200, "never")
      }
    }) { served in
      let reply = RawClient(served.port).ask("GET", "/")
      #expect(reply.status == 503)
      #expect(reply.fields["content-type"] == "application/problem+json")
      #expect(reply.fields["retry-after"] == "1")
    }
  }

  @Test func `its threads share a port that the kernel chose`() async throws {
    try await TestServer.with({ _ in .immediate(.empty(204)) }, threads: 3) { served in
      for _ in 0..<30 { #expect(RawClient(served.port).ask("GET", "/").status == 204) }
    }
  }

  @Test func `fails for a port that is in use`() async throws {
    try await TestServer.with({ _ in .immediate(.empty(204)) }) { served in
      let configuration = ServerConfiguration(port: UInt16(served.port))
      let responder = TestServer.ClosureResponder { _ in .immediate(.empty(204)) }
      let error = #expect(throws: ServerError.self) {
        try Server(configuration, responder: responder, log: .silent)
      }
      #expect(error?.code == .addressInUse)
    }
  }

  @Test(arguments: [("127.0.0.1", true), ("::1", true), ("0.0.0.0", false)])
  func `uses Reno on loopback and the system's congestion control elsewhere`(
    host: String, isReno: Bool
  ) throws {
    let plain = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    let listeners = try Listeners.open(ServerConfiguration(host: host, threads: 2))
    defer { for descriptor in [plain] { close(descriptor) } }
    for descriptor in listeners.sockets.map(\.number) {
      #expect(Self.congestion(descriptor) == (isReno ? "reno" : Self.congestion(plain)))
    }
  }

  private static func congestion(_ descriptor: Int32) -> String {
    var name = [CChar](repeating: 0, count: 16)
    var size = socklen_t(name.count)
    getsockopt(descriptor, Int32(IPPROTO_TCP), TCP_CONGESTION, &name, &size)
    return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}
