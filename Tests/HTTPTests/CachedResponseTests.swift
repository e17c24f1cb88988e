import FoundationEssentials
import Synchronization
import Testing
import Primitives

@testable import HTTP

/// Responses that are sent without parsing the whole request.
@Suite(.timeLimit(.minutes(1))) struct CachedResponseTests {
  /// A cached file that counts how often it is sent.
  private final class CachedFile: CachedResponse {
    let content: Content?
    let route = "/{}"
    let uses = Atomic(0)
    let isValid = Atomic(true)
    /// The status and the size of each that was sent.
    let ends: AsyncStream<(Int, Int)>
    private let ending: AsyncStream<(Int, Int)>.Continuation

    init(_ content: Content?) {
      self.content = content
      (ends, ending) = AsyncStream.makeStream()
    }

    func isValid(at second: Int) -> Bool { isValid.load(ordering: .relaxed) }

    func recordUse() { uses.add(1, ordering: .relaxed) }

    func recordEnd(status: Int, bytes: Int, nanoseconds: Int) {
      ending.yield((status, bytes))
    }
  }

  /// Answers every request with 203; for one target and one pair of credentials the file is cached.
  private struct CachingResponder: Responder {
    let cached: CachedFile

    func plan(for request: Request) -> ResponsePlan {
      var response = Response.text(203, "uncached")
      if request.target == "/a", request.fields["Authorization"] == "Basic YTph" {
        response.cached = cached
      }
      return .immediate(response)
    }

    func plan(for request: Request, like earlier: any CachedResponse) -> ResponsePlan {
      .immediate(.text(209, "again"))
    }

    func route(of request: Request?) -> String { request?.target ?? "" }
  }

  private static func serve(
    recordsCached: Bool = false,
    hasContent: Bool = true, change: (inout ServerConfiguration) -> Void = { _ in },
    test: (Int, CachedFile, AsyncStream<AccessRecord>) async throws -> Void
  ) async throws {
    let folder =
      "\(FileManager.default.temporaryDirectory.path)/http-\(UInt64.random(in: 0 ... .max))"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let content = try TestServer.content(TestServer.pattern, in: folder)
    let cached = CachedFile(hasContent ? content : nil)
    let (seen, seeing) = AsyncStream<AccessRecord>.makeStream()
    var configuration = ServerConfiguration(threads: 1)
    change(&configuration)
    let server = try Server(
      configuration, responder: CachingResponder(cached: cached), log: .silent,
      observer: AccessObserver(recordsCached: recordsCached) { seeing.yield($0) })
    let first = RawClient(server.port).ask("GET", "/a", Self.key)
    #expect(first.status == 203)
    try await test(server.port, cached, seen)
    await server.stop(grace: .zero)
  }

  private static let key = "Authorization: Basic YTph"

  @Test func `a cached response is sent, whole or as 304, equal to an uncached one`() async throws {
    try await Self.serve { port, cached, _ in
      let client = RawClient(port)
      let whole = client.ask("GET", "/a", Self.key, "User-Agent: t", "Accept: */*")
      #expect(whole.status == 200 && whole.body == TestServer.pattern)
      #expect(whole.fields["etag"] == "\"abc\"" && whole.fields["accept-ranges"] == "bytes")
      let same = client.ask("GET", "/a", Self.key, "If-None-Match: \"abc\"")
      #expect(same.status == 304 && same.fields["content-length"] == "1000")
      #expect(cached.uses.load(ordering: .relaxed) == 2)
    }
  }

  @Test(arguments: ["If-None-Match: \"abc\"", "Accept: */*"])
  func `the connection is closed after it if the client asks for that`(field: String)
    async throws
  {
    try await Self.serve { port, cached, _ in
      let client = RawClient(port)
      #expect(client.ask("GET", "/a", Self.key, field).fields["connection"] == nil)
      let last = client.ask("GET", "/a", Self.key, field, "Connection: close")
      #expect([200, 304].contains(last.status) && last.fields["connection"] == "close")
      #expect(client.isClosed() && !client.wasReset)
      #expect(cached.uses.load(ordering: .relaxed) == 2)
    }
  }

  @Test(arguments: [
    "If-None-Match: \"x\"", "If-None-Match: W/\"abc\"", "If-Match: \"abc\"", "Range: bytes=0-1",
    "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT", "Content-Length: 0",
    "Origin: https://a.example", "Unheard-Of: 1",
    "Authorization: Basic YTph",
  ])
  func `a head with any other field is not answered from the cache`(field: String) async throws {
    try await Self.serve { port, cached, _ in
      let client = RawClient(port)
      #expect(client.ask("GET", "/a", Self.key, field).status == 203)
      #expect(cached.uses.load(ordering: .relaxed) == 0)
    }
  }

  @Test func `a cached response is sent through a proxy, with the ID of the request`() async throws
  {
    try await Self.serve { port, cached, _ in
      let client = RawClient(port)
      let plain = client.ask("GET", "/a", Self.key)
      #expect(plain.fields["x-request-id"] == nil)
      let forwarded = [
        "X-Forwarded-For: 192.0.2.1, 10.0.0.1", "X-Forwarded-Proto: https",
        "X-Forwarded-Host: push.example", "X-Forwarded-Port: 443", "X-Real-IP: 192.0.2.1",
        "Forwarded: for=192.0.2.1", "Via: 1.1 proxy",
      ]
      for id in ["one", "two"] {
        for validator in ["Accept: */*", "If-None-Match: \"abc\""] {
          let head = "GET /a HTTP/1.1\r\nHost: test\r\n\(Self.key)\r\n\(validator)\r\n"
          client.send(
            head + forwarded.map { $0 + "\r\n" }.joined() + "X-Request-Id: \(id)\r\n\r\n")
          let answer = client.reply()
          #expect(answer.status == (validator.hasPrefix("If") ? 304 : 200))
          #expect(answer.fields["x-request-id"] == id)
          #expect(answer.fields["etag"] == plain.fields["etag"])
        }
      }
      let unsafe = client.ask("GET", "/a", Self.key, "X-Request-Id: <script>")
      #expect(unsafe.status == 200 && unsafe.fields["x-request-id"] == nil)
      #expect(cached.uses.load(ordering: .relaxed) == 6)
    }
  }

  @Test func `the client that a trusted proxy names is recorded with a cached response`()
    async throws
  {
    try await Self.serve(recordsCached: true, change: { _ = $0.trust("127.0.0.1") }) {
      port, cached, seen in
      _ = RawClient(port).ask("GET", "/a", Self.key, "X-Forwarded-For: 192.0.2.1")
      var exchanges = seen.makeAsyncIterator()
      _ = await exchanges.next()
      #expect(await exchanges.next()?.request?.peer == "192.0.2.1")
      #expect(cached.uses.load(ordering: .relaxed) == 1)
    }
  }

  @Test func `other targets, credentials and methods are not answered from the cache`() async throws
  {
    try await Self.serve { port, cached, _ in
      let client = RawClient(port)
      #expect(client.ask("GET", "/b", Self.key).status == 203)
      #expect(client.ask("GET", "/a", "Authorization: Basic Yjpi").status == 203)
      #expect(client.ask("GET", "/a").status == 203)
      #expect(client.ask("HEAD", "/a", Self.key).status == 203)
      #expect(client.ask("get", "/a", Self.key).status == 501)
      #expect(cached.uses.load(ordering: .relaxed) == 0)
    }
  }

  @Test(arguments: ["Host: twice", "User-Agent: a\u{1}b", "Bad Name: x"])
  func `a malformed head is rejected although its response is cached`(field: String) async throws {
    try await Self.serve { port, cached, _ in
      #expect(RawClient(port).ask("GET", "/a", Self.key, field).status == 400)
      #expect(cached.uses.load(ordering: .relaxed) == 0)
    }
  }

  @Test func `a control character anywhere in a value makes a head not simple`() throws {
    func isSimple(_ value: [UInt8]) throws -> Bool {
      let bytes = Array("GET / HTTP/1.1\r\nHost: x\r\nUser-Agent: a".utf8) + value
      return try (bytes + Array("a\r\n\r\n".utf8)).withUnsafeBytes {
        SimpleRequestHead(try #require(try RequestHead.parse($0))) != nil
      }
    }
    for count in 1...40 {
      var value = [UInt8](repeating: UInt8(ascii: "b"), count: count)
      for byte: UInt8 in [0x20, 0x7E, 0x80, 0x9F, 0xFF] {
        value[count / 2] = byte
        #expect(try isSimple(value))
      }
      for index in 0..<count {
        for byte: UInt8 in [0, 1, 9, 0x1F, 0x7F] {
          let good = value[index]
          value[index] = byte
          #expect(try !isSimple(value), "byte \(byte) at \(index) of \(count)")
          value[index] = good
        }
      }
    }
  }

  @Test func `with CORS no request is answered from the cache`()
    async throws
  {
    try await Self.serve(change: { $0.allowedOrigins = ["https://a.example"] }) { port, _, _ in
      #expect(RawClient(port).ask("GET", "/a", Self.key).status == 203)
    }
  }

  @Test
  func `with allowed hosts the cache answers only requests for one of them, of own pages`()
    async throws
  {
    try await Self.serve(change: { $0.allowedHosts = ["test"] }) { port, cached, _ in
      func status(_ host: String, _ target: String = "/a", _ field: String = "") -> Int {
        let client = RawClient(port)
        client.send("GET \(target) HTTP/1.1\r\nHost: \(host)\r\n\(Self.key)\r\n\(field)\r\n")
        return client.reply().status
      }
      for host in ["test", "localhost:80", "test:80", "127.0.0.1"] {
        #expect(status(host) == 200)
        for site in ["none", "same-origin", "same-site"] {
          #expect(status(host, "/a", "Sec-Fetch-Site: \(site)\r\n") == 200)
        }
        #expect(status(host, "/a", "sec-fetch-site: cross-site\r\n") == 403)
        #expect(status(host, "/a", "Sec-Fetch-Site: none\r\nSec-Fetch-Site: cross-site\r\n") == 403)
        #expect(status(host, "/a", "Origin: https://evil.example\r\n") == 403)
      }
      let given = cached.uses.load(ordering: .relaxed)
      #expect(given == 16)
      for host in ["", "evil.example", "test.evil.example"] { #expect(status(host) == 421) }
      #expect(status("test", "http://evil.example/a") == 421)
      #expect(cached.uses.load(ordering: .relaxed) == given)
    }
  }

  @Test func `it is not sent after it has become invalid`() async throws {
    try await Self.serve { port, cached, _ in
      let client = RawClient(port)
      #expect(client.ask("GET", "/a", Self.key).status == 200)
      cached.isValid.store(false, ordering: .relaxed)
      #expect(client.ask("GET", "/a", Self.key).status == 203)
      cached.isValid.store(true, ordering: .relaxed)
      #expect(client.ask("GET", "/a", Self.key).status == 200, "it was cached again")
    }
  }

  @Test func `without content the application responds, and knows the earlier response`()
    async throws
  {
    try await Self.serve(hasContent: false) { port, _, _ in
      let client = RawClient(port)
      #expect(client.ask("GET", "/a", Self.key).status == 209)
      #expect(client.ask("GET", "/b", Self.key).status == 203)
      #expect(client.ask("GET", "/a", Self.key, "Range: bytes=0-1").status == 203)
    }
  }

  @Test(arguments: [false, true])
  func `its end is counted, and recorded if the observer records cached responses`(
    recordsCached: Bool
  ) async throws {
    try await Self.serve(recordsCached: recordsCached) { port, cached, seen in
      _ = RawClient(port).ask("GET", "/a", Self.key, "User-Agent: t")
      var ends = cached.ends.makeAsyncIterator()
      let end = await ends.next()
      #expect(end?.0 == 200 && end?.1 == 1000)
      _ = RawClient(port).ask("GET", "/b")
      var exchanges = seen.makeAsyncIterator()
      _ = await exchanges.next()
      if recordsCached {
        let exchange = await exchanges.next()
        #expect(exchange?.method == "GET" && exchange?.route == "/{}" && exchange?.status == 200)
        #expect(exchange?.bytes == 1000 && exchange?.isComplete == true)
        #expect(exchange?.isCached == true && exchange?.request?.fields["User-Agent"] == "t")
      }
      let uncached = await exchanges.next()
      #expect(uncached?.route == "/b" && uncached?.isCached == false)
    }
  }
}
