import FoundationEssentials
import Synchronization
import Testing

@testable import HTTP

/// What is answered without a closer look at the request.
@Suite struct StandingAnswerTests {
  /// A file that stands for one target and one pair of credentials, and counts how often it is given.
  private final class Standing: StandingAnswer {
    let content: Content?
    let route = "/{}"
    let taken = Atomic(0)

    init(_ content: Content) { self.content = content }

    func take() { taken.add(1, ordering: .relaxed) }
  }

  /// Answers every request with 203, unless something stands.
  private final class Answering: Responder {
    let standing = Mutex<Standing?>(nil)

    func answer(_ request: Request) -> Answer { .now(.text(203, "looked at")) }

    func standing(at target: String, for authorization: String) -> (any StandingAnswer)? {
      guard target == "/a", authorization == "Basic YTph" else { return nil }
      return standing.withLock { $0 }
    }

    func route(of request: Request?) -> String { request?.target ?? "" }
  }

  private static func serve(
    readsRequest: Bool = false,
    change: (inout ServerConfiguration) -> Void = { _ in },
    test: (Int, Standing, AsyncStream<HTTP.Exchange>) async throws -> Void
  ) async throws {
    let folder =
      "\(FileManager.default.temporaryDirectory.path)/http-\(UInt64.random(in: 0 ... .max))"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let standing = Standing(try Served.content(Served.pattern, in: folder))
    let answering = Answering()
    answering.standing.withLock { $0 = standing }
    let (seen, seeing) = AsyncStream<HTTP.Exchange>.makeStream()
    var configuration = ServerConfiguration()
    change(&configuration)
    let server = try Server(
      configuration, responder: answering, log: { _ in },
      observer: Observer(readsRequest: readsRequest) { seeing.yield($0) })
    try await test(server.port, standing, seen)
    await server.stop(grace: .zero)
  }

  private static let key = "Authorization: Basic YTph"

  @Test func `what stands is given, whole or as 304, and is what anybody else gets`() async throws {
    try await Self.serve { port, standing, _ in
      let client = RawClient(port)
      let whole = client.ask("GET", "/a", Self.key, "User-Agent: t", "Accept: */*")
      #expect(whole.status == 200 && whole.body == Served.pattern)
      #expect(whole.fields["etag"] == "\"abc\"" && whole.fields["accept-ranges"] == "bytes")
      let same = client.ask("GET", "/a", Self.key, "If-None-Match: \"abc\"")
      #expect(same.status == 304 && same.fields["content-length"] == "1000")
      #expect(standing.taken.load(ordering: .relaxed) == 2)
    }
  }

  @Test(arguments: [
    "If-None-Match: \"x\"", "If-None-Match: W/\"abc\"", "If-Match: \"abc\"", "Range: bytes=0-1",
    "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT", "X-Request-Id: 1",
    "X-Forwarded-For: 192.0.2.1", "Content-Length: 0", "Origin: https://a.example", "Unheard-Of: 1",
    "Authorization: Basic YTph",
  ])
  func `a head with more to it is looked at`(field: String) async throws {
    try await Self.serve { port, standing, _ in
      let client = RawClient(port)
      #expect(client.ask("GET", "/a", Self.key, field).status == 203)
      #expect(standing.taken.load(ordering: .relaxed) == 0)
    }
  }

  @Test func `others' targets and credentials, and other methods, are looked at`() async throws {
    try await Self.serve { port, standing, _ in
      let client = RawClient(port)
      #expect(client.ask("GET", "/b", Self.key).status == 203)
      #expect(client.ask("GET", "/a", "Authorization: Basic Yjpi").status == 203)
      #expect(client.ask("GET", "/a").status == 203)
      #expect(client.ask("HEAD", "/a", Self.key).status == 203)
      #expect(client.ask("get", "/a", Self.key).status == 501)
      #expect(standing.taken.load(ordering: .relaxed) == 0)
    }
  }

  @Test(arguments: ["Host: twice", "User-Agent: a\u{1}b", "Bad Name: x"])
  func `a malformed head is refused though its answer stands`(field: String) async throws {
    try await Self.serve { port, standing, _ in
      #expect(RawClient(port).ask("GET", "/a", Self.key, field).status == 400)
      #expect(standing.taken.load(ordering: .relaxed) == 0)
    }
  }

  @Test func `where pages of other origins may read answers, every request is looked at`()
    async throws
  {
    try await Self.serve(change: { $0.origins = ["https://a.example"] }) { port, _, _ in
      #expect(RawClient(port).ask("GET", "/a", Self.key).status == 203)
    }
  }

  @Test
  func `where hosts are set, what stands is given only to those who name one, and to own pages`()
    async throws
  {
    try await Self.serve(change: { $0.hosts = ["test"] }) { port, standing, _ in
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
      let given = standing.taken.load(ordering: .relaxed)
      #expect(given == 16)
      for host in ["", "evil.example", "test.evil.example"] { #expect(status(host) == 421) }
      #expect(status("test", "http://evil.example/a") == 421)
      #expect(standing.taken.load(ordering: .relaxed) == given)
    }
  }

  @Test(arguments: [false, true])
  func `an observer learns of it, with the request if it asks for that`(
    readsRequest: Bool
  ) async throws {
    try await Self.serve(readsRequest: readsRequest) { port, _, seen in
      _ = RawClient(port).ask("GET", "/a", Self.key, "User-Agent: t")
      var exchanges = seen.makeAsyncIterator()
      let exchange = await exchanges.next()
      #expect(exchange?.method == "GET" && exchange?.route == "/{}" && exchange?.status == 200)
      #expect(exchange?.bytes == 1000 && exchange?.isComplete == true)
      #expect(exchange?.request?.fields["User-Agent"] == (readsRequest ? "t" : nil))
    }
  }
}
