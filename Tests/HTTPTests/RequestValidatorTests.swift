import Testing

@testable import HTTP

@Suite(.timeLimit(.minutes(1))) struct RequestValidatorTests {
  @Test(arguments: [
    ("GET / HTTP/1.1\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
    ("GET /%00 HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    ("GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    ("GET /%ff HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    ("GET /?a=%00 HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    ("GET /#f HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    ("GET * HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    ("FOO / HTTP/1.1\r\nHost: a\r\n\r\n", 501),
    ("CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n", 501),
    ("GET / HTTP/1.1\r\nHost: a\r\nX : 1\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a\r\nX: 1\r2\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a\r\nX(: 1\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a\r\nExpect: miracles\r\n\r\n", 417),
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +5\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0x5\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\r\n chunked\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\u{b}\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\r\n\r\n", 501),
    ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, chunked\r\n\r\n", 501),
    (
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
      501
    ),
    ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501),
    ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n", 501),
    ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chun\u{212a}ed\r\n\r\n", 501),
    ("POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
  ])
  func `rejects with a problem and closes`(request: String, status: Int) async throws {
    try await TestServer.with({ _ in .immediate(.text(200, "reached")) }) { served in
      let client = RawClient(served.port)
      client.send(request + "0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n")
      let reply = client.reply()
      #expect(reply.status == status)
      #expect(reply.fields["content-type"] == "application/problem+json")
      #expect(client.isClosed() && !client.wasReset)
    }
  }

  @Test(arguments: [
    ("garbage\r\n\r\n", [400]), ("\u{1}\u{2}\u{3} \r\n\r\n", [400]),
    ("GET / HTTP/1.1\r\nno colon\r\nHost: a\r\n\r\n", [400]),
    ("GET / HTTP/2.0\r\nHost: a\r\n\r\n", [505]),
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", [400]),
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5,5\r\n\r\n", [400]),
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n", [413]),
    ("GET /\(String(repeating: "a", count: 3500)) HTTP/1.1\r\nHost: a\r\n\r\n", [414]),
    ("GET / HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "a", count: 6500))\r\n\r\n", [431]),
    ("GET / HTTP/1.1\r\nHost: a\r\n\(String(repeating: "X: 1\r\n", count: 80))\r\n", [431]),
  ])
  func `rejects what is malformed or too large`(request: String, statuses: [Int]) async throws {
    try await TestServer.with({ _ in .immediate(.text(200, "reached")) }) { served in
      let client = RawClient(served.port)
      client.send(request)
      let reply = client.reply()
      #expect(statuses.contains(reply.status))
      #expect(reply.fields["content-type"] == "application/problem+json")
      #expect(reply.text.contains(#""status":\#(reply.status)"#) && reply.text.last == "\n")
      #expect(client.isClosed())
    }
  }

  @Test(arguments: [
    ("HEAD / HTTP/1.1\r\n\r\n", 400), ("HEAD /%00 HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    ("HEAD / HTTP/1.1\r\nHost : a\r\n\r\n", 400), ("HEAD / HTTP/1.1\nHost: a\n\n", 400),
    ("HEAD /\(String(repeating: "a", count: 3500)) HTTP/1.1\r\nHost: a\r\n\r\n", 414),
  ])
  func `rejects a HEAD without a body in the response`(request: String, status: Int) async throws {
    try await TestServer.with({ _ in .immediate(.text(200, "reached")) }) { served in
      let client = RawClient(served.port)
      client.send(request)
      let reply = client.reply(hasBody: false)
      #expect(reply.status == status && reply.fields["content-length"] != "0")
      #expect(client.isClosed())
    }
  }

  @Test(arguments: [
    ("GET /a HTTP/1.0\r\n\r\n", "[\"a\"]"),
    ("GET http://example.org/a?b HTTP/1.1\r\nHost: example.org\r\n\r\n", "[\"a\"]"),
    ("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", "[]"),
    ("GET /a/../b/ HTTP/1.1\r\nHost: a\r\n\r\n", #"["a", "..", "b", ""]"#),
    ("GET /a%2Fb HTTP/1.1\r\nHost: a\r\n\r\n", #"["a/b"]"#),
  ])
  func `accepts what is unusual but valid`(request: String, segments: String) async throws {
    try await TestServer.with({ .immediate(.text(200, "\($0.segments)")) }) { served in
      let client = RawClient(served.port)
      client.send(request)
      #expect(client.reply().text == segments)
    }
  }

  @Test(arguments: [
    ("GET /\(String(repeating: "a", count: 100_000)) HTTP/1.1\r\nHost: a\r\n\r\n", 414),
    ("GET / HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "a", count: 100_000))\r\n\r\n", 431),
    ("GET / HTTP/1.1\r\nHost: a\r\n\(String(repeating: "X: 1\r\n", count: 9000))\r\n", 431),
  ])
  func `the client receives the error even if it sent far too much`(
    request: String, status: Int
  ) async throws {
    try await TestServer.with({ _ in .immediate(.text(200, "reached")) }) { served in
      let client = RawClient(served.port)
      client.send(request)
      #expect(client.reply().status == status)
      #expect(client.isClosed() && !client.wasReset)
    }
  }
}
