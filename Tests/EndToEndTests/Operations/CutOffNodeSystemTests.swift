import Foundation
import RichPushClient
import StandIns
import Testing
import Waiting

/// Two nodes with one database, of which one is cut off from it: its connections stay open, and nothing passes.
@Suite(
  .enabled(if: PostgresServer.isInstalled, "needs the package postgresql-15"),
  .timeLimit(.minutes(30)))
struct CutOffNodeSystemTests {
  /// Requests for media on one connection, and so on one event loop.
  private struct Reader {
    let connection: RawConnection
    let start = ContinuousClock.now

    func get(_ id: Int) throws -> RawConnection.Answer {
      try connection.exchange(
        "GET /api/notifications/\(id) HTTP/1.1\r\n\(RunningServer.credentials("alice"))\r\n")
    }
  }

  /// When a request was sent and answered.
  private struct Period {
    var begin = ContinuousClock.now
    var end = ContinuousClock.now
  }

  /// Expects that the node refuses a request, without waiting for the database.
  ///
  /// It is asked again where the answer is late: the machine may stand still for a moment.
  @discardableResult
  private static func expectRefusal(
    _ what: String, _ ask: () throws -> RawConnection.Answer
  ) throws -> RawConnection.Answer {
    var time = Duration.seconds(60)
    while true {
      let start = ContinuousClock.now
      let answer = try ask()
      #expect(answer.status == 503 && answer.fields["retry-after"] != nil, "\(what) \(answer.text)")
      let isLast = time < .seconds(60)
      time = .now - start
      if time >= .seconds(1), !isLast { continue }
      #expect(time < .seconds(1), "\(what)")
      return answer
    }
  }

  private static func link(_ message: String) -> NewNotification {
    NewNotification(
      NotificationMessage(message), richType: "url",
      payload: "https://example.org/\(message)", to: .users(["alice"]))
  }

  /// Lends a node that can be cut off, and another.
  private static func lend(
    to body: (RunningServer, SocketRelay, RunningServer) async throws -> Void
  ) async throws {
    let database = try PostgresServer()
    let (relay, url) = try database.relay()
    defer { relay.stop() }
    try await RunningServer.lend(flags: ["--demo", "--database", url]) { first in
      try await RunningServer.lend(flags: ["--demo", "--database", database.url]) { second in
        try await body(first, relay, second)
      }
    }
  }

  @Test
  func `a node that is cut off serves only what it has read in the last minute, then nothing`()
    async throws
  {
    try await Self.lend { node, relay, other in
      let shop = other.client("shop")
      var ids: [Int] = []
      for message in ["old", "new", "unread", "late"] {
        ids.append(try await shop.create(Self.link(message)).id)
      }
      let (old, new, unread, late) = (ids[0], ids[1], ids[2], ids[3])
      let reader = Reader(connection: try RawConnection(port: node.port))
      let clock = ContinuousClock()
      var (oldRead, newRead) = (Period(), Period())
      #expect(try reader.get(old).status == 200)
      oldRead.end = clock.now
      try await eventually("15 seconds pass") { clock.now - oldRead.end > .seconds(15) }
      newRead.begin = clock.now
      #expect(try reader.get(new).status == 200)
      newRead.end = clock.now
      relay.cut(true)
      try await shop.withdraw(old)
      try await shop.withdraw(new)

      // When the last request was sent that was answered, and when the first refusal came: a machine that stands
      // still between the two makes neither wrong.
      var lastServed: [Int: ContinuousClock.Instant] = [:]
      var refused: [Int: ContinuousClock.Instant] = [:]
      try await eventually("both are refused") {
        for id in [old, new] where refused[id] == nil {
          let start = clock.now
          if try reader.get(id).status == 200 {
            lastServed[id] = start
          } else {
            refused[id] = clock.now
            try Self.expectRefusal("\(id)") { try reader.get(id) }
          }
        }
        return refused.count == 2
      }
      for (id, read) in [(old, oldRead), (new, newRead)] {
        #expect(try #require(lastServed[id]) - read.end < .seconds(63))
        #expect(try #require(refused[id]) - read.begin > .seconds(50))
      }
      #expect(try #require(refused[new]) - (try #require(lastServed[old])) > .seconds(10))

      // It fails at once, and tells the balancer.
      for target in ["/readyz", "/api/notifications/\(unread)", "/api/notifications"] {
        let answer = try Self.expectRefusal(target) {
          try RawConnection(port: node.port).exchange(
            "GET \(target) HTTP/1.1\r\n\(RunningServer.credentials("alice"))\r\n")
        }
        #expect(answer.text.contains("has not answered for"), "\(answer.text)")
      }
      let wrong = try RawConnection(port: node.port).exchange(
        "GET /api/notifications HTTP/1.1\r\n\(RunningServer.credentials("nobody"))\r\n")
      #expect(wrong.status == 503)

      relay.cut(false)
      try await eventually("it is ready again") { try node.get("/readyz").status == 200 }
      for id in [old, new] { #expect(try reader.get(id).status == 404) }
      for id in [unread, late] { #expect(try reader.get(id).status == 200) }
    }
  }

  @Test
  func `a node whose listener is closed by the server misses nothing for longer than a second`()
    async throws
  {
    let database = try PostgresServer()
    try await RunningServer.lend(flags: ["--demo", "--database", database.url]) { node in
      try await RunningServer.lend(flags: ["--demo", "--database", database.url]) { other in
        let reader = Reader(connection: try RawConnection(port: node.port))
        // A machine that stands still for a moment is no fault of the node; more than three are.
        var times: [Duration] = []
        while times.count(where: { $0 < .seconds(1) }) < 10, times.count < 13 {
          let id = try await other.client("shop").create(Self.link("\(times.count)")).id
          #expect(try reader.get(id).status == 200)
          // Those of both nodes.
          try database.query(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()
              AND (query LIKE 'LISTEN%' OR query = 'SELECT 1' OR query LIKE '%pg_try_advisory_lock%')
            """)
          try await other.client("shop").withdraw(id)
          let withdrawn = ContinuousClock.now
          try await eventually("it is withdrawn") { try reader.get(id).status == 404 }
          times.append(.now - withdrawn)
        }
        #expect(times.count(where: { $0 < .seconds(1) }) == 10, "\(times)")
      }
    }
  }
}
