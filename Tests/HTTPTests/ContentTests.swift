import FoundationEssentials
import Synchronization
import Testing

@testable import HTTP

@Suite(.timeLimit(.minutes(1))) struct ContentTests {
  private static func serving<R>(_ test: (RawClient) throws -> R) async throws -> R {
    let content = Mutex<Content?>(nil)
    return try await TestServer.with({ _ in
      .immediate(content.withLock { $0 }.map { .content($0) } ?? .empty(404))
    }) { served in
      let made = try TestServer.content(TestServer.pattern, in: served.folder)
      content.withLock { $0 = made }
      return try test(RawClient(served.port))
    }
  }

  private static func sameBytes(_ left: [UInt8], _ right: some Sequence<UInt8>) -> Bool {
    left.elementsEqual(right)
  }

  @Test func `serves a file with everything a cache needs`() async throws {
    try await Self.serving { client in
      for _ in 0..<2 {
        let reply = client.ask("GET", "/")
        #expect(reply.status == 200)
        #expect(Self.sameBytes(reply.body, TestServer.pattern))
        #expect(reply.fields["content-type"] == "image/png")
        #expect(reply.fields["content-length"] == "1000")
        #expect(reply.fields["etag"] == "\"abc\"")
        #expect(reply.fields["last-modified"] == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(reply.fields["cache-control"] == "private, max-age=31536000, immutable")
        #expect(reply.fields["accept-ranges"] == "bytes")
        #expect(
          reply.fields["content-disposition"]
            == "inline; filename=\"beach _.png\"; filename*=UTF-8''beach%20%C3%A9.png")
      }
    }
  }

  @Test(arguments: [
    ("Accept: */*", 200), ("If-None-Match: W/\"abc\"", 304), ("Range: bytes=0-1", 206),
    ("Range: bytes=0-1,-2", 206),
  ])
  func `keeps a browser from running it, and other origins from embedding it`(
    field: String, status: Int
  ) async throws {
    try await Self.serving { client in
      let reply = client.ask("GET", "/", field)
      #expect(reply.status == status)
      #expect(reply.fields["content-security-policy"] == "default-src 'none'; sandbox")
      #expect(reply.fields["x-content-type-options"] == "nosniff")
      #expect(reply.fields["cross-origin-resource-policy"] == "same-origin")
    }
  }

  @Test func `answers a HEAD with exactly the fields of a GET`() async throws {
    try await Self.serving { client in
      func withoutDate(_ head: String) -> [Substring] {
        head.split(separator: "\r\n").filter { !$0.hasPrefix("Date:") }
      }
      let head = client.ask("HEAD", "/")
      #expect(withoutDate(head.head) == withoutDate(client.ask("GET", "/").head))
    }
  }

  @Test func `answers pipelined requests of all kinds in order`() async throws {
    let kinds: [(method: String, field: String, status: Int, size: Int)] = [
      ("GET", "Accept: */*", 200, 1000), ("HEAD", "Accept: */*", 200, 0),
      ("GET", "If-None-Match: \"abc\"", 304, 0), ("HEAD", "If-Match: \"x\"", 412, 0),
      ("GET", "Range: bytes=5-9", 206, 5), ("POST", "Content-Length: 0", 200, 1000),
      ("PUT", "Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0", 200, 1000),
    ]
    let times = 100
    try await Self.serving { client in
      let all = kinds.map { "\($0.method) / HTTP/1.1\r\nHost: x\r\n\($0.field)\r\n\r\n" }
      client.send(String(repeating: all.joined(), count: times))
      for _ in 0..<times {
        for kind in kinds {
          let reply = client.reply(hasBody: kind.method != "HEAD")
          #expect(reply.status == kind.status && reply.body.count == kind.size)
        }
      }
    }
  }

  @Test func `sends 304 with the length of the whole, and no body`() async throws {
    try await Self.serving { client in
      for _ in 0..<2 {
        let reply = client.ask("GET", "/", "If-None-Match: \"x\", W/\"abc\"")
        #expect(reply.status == 304)
        #expect(reply.fields["etag"] == "\"abc\"")
        #expect(reply.fields["content-length"] ?? "1000" == "1000")
        #expect(reply.fields["content-type"] == nil)
      }
      #expect(client.ask("GET", "/").status == 200)
    }
  }

  @Test(arguments: [
    ("bytes=0-9", 0..<10), ("bytes=-10", 990..<1000), ("bytes=990-", 990..<1000),
    ("bytes=500-5000", 500..<1000), ("bytes=0-0", 0..<1), ("bytes=0-9,5-20", 0..<21),
  ])
  func `sends a part`(range: String, expected: Range<Int>) async throws {
    try await Self.serving { client in
      let reply = client.ask("GET", "/", "Range: \(range)")
      #expect(reply.status == 206)
      #expect(Self.sameBytes(reply.body, TestServer.pattern[expected]))
      #expect(
        reply.fields["content-range"]
          == "bytes \(expected.lowerBound)-\(expected.upperBound - 1)/1000")
      #expect(reply.fields["content-type"] == "image/png")
    }
  }

  @Test func `sends several parts as multipart/byteranges`() async throws {
    try await Self.serving { client in
      let reply = client.ask("GET", "/", "Range: bytes=0-1,-2")
      #expect(reply.status == 206)
      let boundary = try #require(reply.fields["content-type"]?.split(separator: "=").last)
      let expected =
        "\r\n--\(boundary)\r\nContent-Type: image/png\r\nContent-Range: bytes 0-1/1000\r\n\r\n"
        .utf8 + TestServer.pattern[..<2]
        + "\r\n--\(boundary)\r\nContent-Type: image/png\r\nContent-Range: bytes 998-999/1000\r\n\r\n"
        .utf8 + TestServer.pattern[998...] + "\r\n--\(boundary)--\r\n".utf8
      #expect(Self.sameBytes(reply.body, expected))
      #expect(client.ask("GET", "/").status == 200)
    }
  }

  @Test func `answers 416 to a range that begins beyond the end`() async throws {
    try await Self.serving { client in
      let reply = client.ask("GET", "/", "Range: bytes=1000-")
      #expect(reply.status == 416)
      #expect(reply.fields["content-range"] == "bytes */1000")
      #expect(reply.fields["content-type"] == "application/problem+json")
    }
  }

  @Test(arguments: [
    ("If-Match: \"other\"", 412), ("If-Match: W/\"abc\"", 412), ("If-Match: \"abc\"", 200),
    ("If-Unmodified-Since: Sun, 06 Nov 1994 08:49:36 GMT", 412),
    ("If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT", 304),
    ("If-Modified-Since: Sun, 06 Nov 1994 08:49:36 GMT", 200),
  ])
  func `evaluates the preconditions`(field: String, status: Int) async throws {
    try await Self.serving { client in #expect(client.ask("GET", "/", field).status == status) }
  }

  @Test func `sends the whole if If-Range does not match`() async throws {
    try await Self.serving { client in
      #expect(client.ask("GET", "/", "Range: bytes=0-1", "If-Range: \"abc\"").status == 206)
      #expect(client.ask("GET", "/", "Range: bytes=0-1", "If-Range: \"old\"").status == 200)
      #expect(client.ask("GET", "/", "Range: bytes=0-1", "If-Range: W/\"abc\"").status == 200)
    }
  }

  @Test func `answers 503 if the file is not as described`() async throws {
    try await TestServer.with({ _ in
      .immediate(
        .content(
          Content(path: "/nowhere", size: 5, mediaType: "a/b", etag: "e", lastModified: .now)))
    }) { served in
      #expect(RawClient(served.port).ask("GET", "/").status == 503)
    }
  }
}
