import FoundationEssentials
import Testing

@testable import HTTP

/// Requests on a connection, cut into pieces of any size.
@Suite(.timeLimit(.minutes(1))) struct RequestParsingTests {
  private static let echo: @Sendable (Request) -> ResponsePlan = { request in
    request.body == .none
      ? .immediate(.text(200, request.target))
      : .collectingBody(limit: 1 << 20, deadline: .seconds(10)) { .bytes(200, $0, type: "a/b") }
  }

  private static let requests = [
    "GET /a HTTP/1.1\r\nHost: x\r\n\r\n",
    "\r\nPOST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello",
    "POST /c HTTP/1.1\r\nhost:x\r\ntransfer-encoding:  chunked \r\n\r\n"
      + "3;a=\"b\"\r\nabc\r\n0A \r\n0123456789\r\n0\r\nTrailer: t\r\n\r\n",
    "GET /d HTTP/1.1\r\nHost: x\r\n\r\n",
  ]
  private static let answers = ["/a", "hello", "abc0123456789", "/d"]

  @Test(arguments: [1, 2, 7, 64, 10_000])
  func `reads requests in pieces of any size`(piece: Int) async throws {
    try await TestServer.with(Self.echo) { served in
      let client = RawClient(served.port)
      let bytes = Array(Self.requests.joined().utf8)
      for start in stride(from: 0, to: bytes.count, by: piece) {
        client.send(Array(bytes[start..<min(bytes.count, start + piece)]))
      }
      for answer in Self.answers { #expect(client.reply().text == answer) }
    }
  }

  @Test func `reads many requests that arrive at once`() async throws {
    try await TestServer.with(Self.echo, threads: 1) { served in
      let client = RawClient(served.port)
      let times = 200
      client.send(String(repeating: Self.requests.joined(), count: times))
      for _ in 0..<times {
        for answer in Self.answers { #expect(client.reply().text == answer) }
      }
    }
  }

  @Test(arguments: [
    "g\r\n", "\r\n", "-1\r\n", "0x5\r\n", "5\n", "5\r\nhello", "5\r\nhelloX", " 5\r\n",
    "5;\u{1}\r\n", "5 5\r\n",
    "0\r\nX\nY\r\n\r\n",
  ])
  func `rejects a malformed chunked body`(body: String) async throws {
    try await TestServer.with(Self.echo) { served in
      let client = RawClient(served.port)
      client.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + body)
      client.send("\r\n\n\n")
      #expect(client.reply().status == 400)
      #expect(client.isClosed())
    }
  }

  @Test(arguments: ["ffffffffffffffff\r\n", "fffffffffffffff\r\n", "100001\r\n"])
  func `rejects a chunk that is too large at once`(chunk: String) async throws {
    try await TestServer.with(Self.echo) { served in
      let client = RawClient(served.port)
      client.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk)
      #expect(client.reply().status == 413)
      #expect(client.isClosed())
    }
  }

  @Test func `bounds the trailers and parameters of a chunked body`() async throws {
    try await TestServer.with(Self.echo) { served in
      let client = RawClient(served.port)
      client.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n")
      client.send(String(repeating: "X: 1\r\n", count: 5000))
      #expect(client.reply().status == 400)
    }
  }

  @Test(arguments: [
    ("GET", 0, 6140, true), ("GET", 0, 6141, false),
    ("GET", 3000, 1, true), ("GET", 3001, 1, false),
    (String(repeating: "A", count: 100), 2953, 1, true),
    (String(repeating: "A", count: 100), 2954, 1, false),
  ])
  func `limits apply equally to a head as a whole and in pieces`(
    method: String, target: Int, field: Int, isTaken: Bool
  ) {
    let target = String(repeating: "/", count: target)
    let head =
      "\(method) \(target.isEmpty ? "/" : target) HTTP/1.1\r\n"
      + "X: \(String(repeating: "a", count: field))\r\n\r\n"
    Array(head.utf8).withUnsafeBytes { bytes in
      #expect(((try? RequestHead.parse(bytes)) != nil) == isTaken)
      let rejected = (1..<bytes.count).filter { size in
        do throws(HTTPError) {
          #expect(try RequestHead.parse(.init(rebasing: bytes[..<size])) == nil)
          return false
        } catch { return true }
      }
      #expect(rejected.isEmpty == isTaken)
    }
  }

  @Test(arguments: [
    "GET / HTTP/1.1\nHost: x\n\n", "GET / HTTP/1.1\r\nHost: x\n\n",
    "GET  / HTTP/1.1\r\nHost: x\r\n\r\n",
    "GET /\r\nHost: x\r\n\r\n", " GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: x\r\n folded: y\r\n\r\n", "GET / http/1.1\r\nHost: x\r\n\r\n",
    "GET / HTTP/1.10\r\nHost: x\r\n\r\n", "GET / HTTP/1.1\r\nHost: x\r\n: empty\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: x\r\nA: \0\r\n\r\n",
  ])
  func `rejects lines that RFC 9112 forbids`(head: String) async throws {
    try await TestServer.with(Self.echo) { served in
      let client = RawClient(served.port)
      client.send(head)
      #expect(client.reply().status == 400)
      #expect(client.isClosed())
    }
  }

  @Test func `answers a client that has finished sending, and then closes`() async throws {
    let (gate, opener) = AsyncStream<Void>.makeStream()
    try await TestServer.with({ _ in
      .asynchronous(deadline: .seconds(10)) {
        for await _ in gate { break }
        return .text(200, "late")
      }
    }) { served in
      let client = RawClient(served.port)
      client.send(Self.requests[0])
      client.finish()
      opener.yield()
      #expect(client.reply().text == "late")
      #expect(client.isClosed())
    }
  }

  @Test(arguments: [
    ("GET / HTTP/1.0\r\n\r\n", "close"),
    ("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "close"),
    ("GET / HTTP/1.1\r\nHost: x\r\nConnection: a, Close\r\n\r\n", "close"),
    ("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "keep-alive"),
    ("GET / HTTP/1.1\r\nHost: x\r\nConnection: keep-alive\r\n\r\n", nil),
  ])
  func `keeps or closes the connection as the client asks`(
    request: String, says: String?
  ) async throws {
    try await TestServer.with(Self.echo) { served in
      let client = RawClient(served.port)
      client.send(request)
      let reply = client.reply()
      #expect(reply.status == 200)
      #expect(reply.fields["connection"] == says)
      if says == "close" {
        #expect(client.isClosed())
      } else {
        #expect(client.ask("GET", "/again").text == "/again")
      }
    }
  }

  @Test func `sends and reads large bodies over TLS`() async throws {
    let bytes = TestServer.longPattern(3_000_000)
    try await TestServer.with(
      { request in
        request.body == .none
          ? .immediate(.bytes(200, bytes, type: "a/b"))
          : .collectingBody(limit: 1 << 22, deadline: .seconds(10)) { .bytes(200, $0, type: "a/b") }
      }, tls: try TestIdentities.one()
    ) { served in
      let client = try #require(RawClient(served.port, tls: "NORMAL"))
      for _ in 0..<2 { #expect(client.ask("GET", "/").body == bytes) }
      client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: \(bytes.count)\r\n\r\n")
      client.send(bytes)
      #expect(client.reply().body == bytes)
    }
  }
}
