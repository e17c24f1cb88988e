import FoundationEssentials
import Synchronization
import Testing

@testable import HTTP

/// What is answered without being read anew.
@Suite struct KnownHeadTests {
  /// An answer that stands until it is ended, and counts how often it was decided and given again.
  private final class Standing: Lease {
    let isOver = Atomic(false)
    let asked = Atomic(0)
    let renewed = Atomic(0)

    func renew() -> Bool {
      renewed.add(1, ordering: .relaxed)
      return !isOver.load(ordering: .relaxed)
    }

    var counts: [Int] {
      [asked.load(ordering: .relaxed), renewed.load(ordering: .relaxed)]
    }
  }

  private static func serve(_ test: (Standing, RawClient) throws -> Void) async throws {
    let standing = Standing()
    let file = Mutex<Content?>(nil)
    var limits = ServerConfiguration.Limits()
    limits.lease = .seconds(60)
    let answer: @Sendable (Request) -> Answer = { request in
      standing.asked.add(1, ordering: .relaxed)
      guard request.target != "/none", let content = file.withLock({ $0 }) else {
        return .now(.problem(404, "There is nothing."))
      }
      var response = Response.content(content)
      response.lease = standing
      return .now(response)
    }
    try await Served.with(answer, limits: limits) { served in
      let content = try Served.content(Served.pattern, in: served.folder)
      file.withLock { $0 = content }
      try test(standing, RawClient(served.port))
    }
  }

  @Test func `the same head gets the same file, and nobody is asked again`() async throws {
    try await Self.serve { standing, client in
      let first = client.ask("GET", "/a", "Authorization: Basic YTph")
      #expect(first.status == 200 && first.body == Served.pattern)
      let second = client.ask("GET", "/a", "Authorization: Basic YTph")
      #expect(second.body == first.body && second.fields["etag"] == first.fields["etag"])
      #expect(standing.counts == [1, 1])
      for _ in 0..<2 { #expect(client.ask("GET", "/a", "If-None-Match: \"abc\"").status == 304) }
      #expect(standing.counts == [2, 2])
      for _ in 0..<2 { #expect(client.ask("HEAD", "/a").body.isEmpty) }
      #expect(standing.counts == [3, 3])
    }
  }

  @Test func `another head is another question, however little differs`() async throws {
    try await Self.serve { standing, client in
      _ = client.ask("GET", "/a", "Authorization: Basic YTph")
      for (target, field) in [
        ("/b", "Authorization: Basic YTph"), ("/a", "Authorization: Basic Yjpi"),
        ("/a", "authorization: Basic YTph"), ("/a", "If-None-Match: \"x\""),
        ("/a", "Range: bytes=0-1"), ("/a", "X-Request-Id: 1"),
      ] { _ = client.ask("GET", target, field) }
      #expect(standing.counts == [7, 0])
      // What is not the whole file, or bears a name, is decided each time.
      #expect(client.ask("GET", "/a", "Range: bytes=0-1").status == 206)
      #expect(client.ask("GET", "/a", "X-Request-Id: 1").fields["x-request-id"] == "1")
      #expect(standing.counts == [9, 0])
    }
  }

  @Test func `an answer is not given again once it is over, nor is an error`() async throws {
    try await Self.serve { standing, client in
      for _ in 0..<2 { #expect(client.ask("GET", "/none").status == 404) }
      #expect(standing.counts == [2, 0])
      for _ in 0..<2 { #expect(client.ask("GET", "/a").status == 200) }
      standing.isOver.store(true, ordering: .relaxed)
      #expect(client.ask("GET", "/a").status == 200)
      #expect(standing.counts == [4, 2])
    }
  }
}
