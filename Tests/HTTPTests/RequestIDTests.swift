import FoundationEssentials
import Testing

@testable import HTTP

@Suite(.timeLimit(.minutes(1))) struct RequestIDTests {
  @Test func `returns the client's own request ID, in problems too`() async throws {
    try await TestServer.with({ request in
      request.segments == ["no"]
        ? .immediate(.problem(404, "No.")) : .immediate(.text(200, request.id))
    }) { served in
      let client = RawClient(served.port)
      let fine = client.ask("GET", "/", "X-Request-Id: abc-1")
      #expect(fine.text == "abc-1" && fine.fields["x-request-id"] == "abc-1")
      let refused = client.ask("GET", "/no", "X-Request-Id: abc-2")
      #expect(refused.fields["x-request-id"] == "abc-2")
      #expect(refused.text.contains(#""requestId":"abc-2""#))
    }
  }

  @Test(arguments: [
    nil, "X-Request-Id: a b", "X-Request-Id: \"}{", "X-Request-Id: ",
    "X-Request-Id: " + String(repeating: "a", count: 129),
  ])
  func `makes an ID if the client sent no valid one`(field: String?) async throws {
    try await TestServer.with({ _ in .immediate(.text(200, "")) }) { served in
      let client = RawClient(served.port)
      let names = (0..<3).map { _ in
        (field.map { client.ask("GET", "/", $0) } ?? client.ask("GET", "/"))
          .fields["x-request-id"] ?? ""
      }
      #expect(Set(names).count == 3)
      for name in names { #expect(name.wholeMatch(of: /[0-9a-f]{16}/) != nil, "\(name)") }
    }
  }

  @Test func `returns the ID with files, too`() async throws {
    let folder = FileManager.default.temporaryDirectory.path
    let name = "named-\(UInt64.random(in: 0 ... .max))"
    let content = try TestServer.content(TestServer.pattern, in: folder, name: name)
    defer { try? FileManager.default.removeItem(atPath: content.path) }
    try await TestServer.with({ _ in .immediate(.content(content)) }) { served in
      let client = RawClient(served.port)
      for fields in [["X-Request-Id: a"], ["X-Request-Id: a", "If-None-Match: \"abc\""]] {
        let lines = fields.map { $0 + "\r\n" }.joined()
        client.send("GET / HTTP/1.1\r\nHost: x\r\n\(lines)\r\n")
        let reply = client.reply()
        #expect(reply.fields["x-request-id"] == "a")
        #expect(reply.fields["etag"] == "\"abc\"")
      }
    }
  }
}
