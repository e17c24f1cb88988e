import Foundation
import Synchronization
import Testing

/// The command line in front of a server that fails, and says so in its way.
@Suite(.timeLimit(.minutes(3))) struct ServerFaultTests {
  private static func run(_ words: [String], at site: LocalSite) async throws -> Child.Result {
    try await Child.run("richpush", words + ["--server", "http://\(site.address)"])
  }

  private static func answer(
    _ visitor: Visitor, _ status: Int, _ body: String, _ fields: String...
  ) {
    let lines = ["HTTP/1.1 \(status) -", "Content-Length: \(body.utf8.count)", "Connection: close"]
    visitor.send((lines + fields).joined(separator: "\r\n") + "\r\n\r\n" + body)
  }

  @Test(arguments: [
    (200, "<html>", 76), (200, #"{"notifications":7}"#, 76), (204, "", 76),
    (400, "{}", 65), (401, "{}", 77), (403, "{}", 77), (404, "{}", 66), (408, "{}", 75),
    (409, "{}", 65), (410, "{}", 66), (413, "{}", 65), (422, "{}", 65), (429, "{}", 75),
    (500, "", 75), (500, #"{"code":"internal-server-error"}"#, 70),
    (502, "<html>", 75), (502, #"{"code":"plugin-failed"}"#, 70), (503, "{}", 75), (504, "", 75),
    (507, "{}", 75),
  ])
  func `tells by its exit code what kind of answer it got`(
    status: Int, body: String, code: Int32
  ) async throws {
    let site = try LocalSite { Self.answer($0, status, body) }
    let result = try await Self.run(["sent", "list", "--user", "shop"], at: site)
    #expect(result.exitCode == code, "\(result.errors)")
    #expect(result.errors.hasPrefix("richpush: "))
    #expect(result.errors.split(separator: "\n").count == 1)
  }

  @Test func `lists no more than was asked for`() async throws {
    let site = try LocalSite { Self.answer($0, 200, #"{"notifications":[]}"#) }
    _ = try await Self.run(["sent", "list", "--limit", "3", "--user", "shop"], at: site)
    #expect(site.visited.count == 1 && site.visited.first?.contains("limit=3") == true)
  }

  @Test func `a dry run that finds a refused rendition ends with 65`() async throws {
    for (status, code) in [("ready", Int32(0)), ("refused", 65)] {
      let body = """
        {"audience":{"users":1,"devices":{"apns":1},"unknown":[]},
        "renditions":[{"profile":"ios","status":"\(status)","reason":null,"contentType":null,
        "bytes":null,"limit":9,"url":null}],"texts":[],"warnings":[]}
        """
      let site = try LocalSite { Self.answer($0, 200, body) }
      let result = try await Self.run(
        ["notify", "--dry-run", "--to", "a", "--payload", "logo.png", "--user", "shop", "m"],
        at: site)
      #expect(result.exitCode == code, "\(result.errors)")
      #expect(result.output.first?.hasPrefix("would reach 1 user") == true)
    }
  }

  /// A server for a phone: its answers to the requests for media, in turn, and then a picture.
  private static func phoneServer(
    _ registration: String, event: String, media: [(status: Int, field: String)] = [],
    _ observe: @escaping @Sendable (Visitor) -> Void = { _ in }
  ) throws -> LocalSite {
    let count = Atomic(0)
    return try LocalSite { visitor in
      observe(visitor)
      switch visitor.path {
      case "/api/push/stream":
        visitor.send(
          "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
            + "retry: 1\n\n" + event + "\n\n")
      case "/api/notifications/7":
        let number = count.add(1, ordering: .relaxed).oldValue
        if number < media.count {
          return answer(visitor, media[number].status, "", media[number].field)
        }
        answer(visitor, 200, "text", "Content-Type: text/plain")
      case let path where path.hasSuffix("/token"): answer(visitor, 201, #"{"token":"t"}"#)
      default: answer(visitor, 200, "\"\(registration)\"")
      }
    }
  }

  private static func phone(_ folder: URL) -> [String] {
    ["device", "--user", "alice", "--count", "1", "--folder", folder.path]
  }

  private static let push = "id: 5\ndata: {\"richId\":\"7\",\"richType\":\"img\"}"

  @Test(arguments: [503, 429, 502])
  func `a phone fetches again what a busy server did not send, no sooner than that asks`(
    _ status: Int
  ) async throws {
    let times = Mutex<[ContinuousClock.Instant]>([])
    let site = try Self.phoneServer(
      "r-1", event: Self.push,
      media: [(status, "Retry-After: 1"), (status, "X-Other: 1"), (status, "X-Other: 1")]
    ) { visitor in
      if visitor.path == "/api/notifications/7" { times.withLock { $0.append(.now) } }
    }
    let scratch = try Scratch()
    let result = try await Self.run(Self.phone(scratch.folder), at: site)
    #expect(result.exitCode == 0 && result.output.last?.hasPrefix("#7 img") == true)
    #expect(result.output.last?.contains("failed") == false, "\(result.output)")
    let asked = times.withLock { $0 }
    try #require(asked.count == 4)
    #expect(asked[1] - asked[0] >= .seconds(1))
  }

  @Test func `a phone does not ask again for what a server refuses`() async throws {
    let site = try Self.phoneServer(
      "r-1", event: Self.push, media: [(404, "X-Other: 1"), (404, "X-Other: 1")])
    let scratch = try Scratch()
    let result = try await Self.run(Self.phone(scratch.folder), at: site)
    #expect(result.exitCode == 0 && result.output.last?.contains("failed") == true)
    #expect(site.visited.count { $0 == "/api/notifications/7" } == 1)
  }

  @Test func `a phone resumes after the last push of the same server, and of no other`()
    async throws
  {
    let scratch = try Scratch()
    let heads = Mutex<[String]>([])
    for registration in ["r-1", "r-1", "r-2"] {
      let site = try Self.phoneServer(registration, event: Self.push) { visitor in
        if visitor.path == "/api/push/stream" { heads.withLock { $0.append(visitor.head) } }
      }
      let result = try await Self.run(Self.phone(scratch.folder), at: site)
      #expect(result.exitCode == 0, "\(result.errors)")
    }
    let resumed = heads.withLock { $0.map { $0.contains("Last-Event-ID: 5\r\n") } }
    #expect(resumed == [false, true, false])
  }
}
