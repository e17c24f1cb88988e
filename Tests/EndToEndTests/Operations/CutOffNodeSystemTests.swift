import Foundation
import RichPushClient
import StandIns
import Testing

/// Two nodes with one database, of which one is cut off from it: its connections stay open, and nothing passes.
@Suite(
  .enabled(if: PostgresServer.isInstalled, "needs the package postgresql-15"),
  .timeLimit(.minutes(5)))
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

  private static func link(_ message: String) -> NewNotification {
    NewNotification(
      message, richType: "url", payload: "https://example.org/\(message)", to: .users(["alice"]))
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
      #expect(try reader.get(old).status == 200)
      let oldRead = clock.now
      try await eventually("15 seconds pass") { clock.now - oldRead > .seconds(15) }
      #expect(try reader.get(new).status == 200)
      let newRead = clock.now
      relay.cut(true)
      let cut = clock.now
      try await shop.withdraw(old)
      try await shop.withdraw(new)

      // Each answer comes at once, but for requests that are sent before it is known.
      var ends: [Int: ContinuousClock.Instant] = [:]
      while ends.count < 2, clock.now - cut < .seconds(90) {
        for id in [old, new] where ends[id] == nil {
          let start = clock.now
          let answer = try reader.get(id)
          guard answer.status != 200 else { continue }
          #expect(answer.status == 503 && answer.fields["retry-after"] != nil, "\(answer.text)")
          #expect(clock.now - start < .seconds(1))
          ends[id] = start
        }
        try await Task.sleep(for: .milliseconds(100))
      }
      let (oldEnd, newEnd) = (try #require(ends[old]), try #require(ends[new]))
      #expect(oldEnd - oldRead > .seconds(50) && oldEnd - oldRead < .seconds(63))
      #expect(newEnd - newRead > .seconds(50) && newEnd - newRead < .seconds(63))
      #expect(newEnd - oldEnd > .seconds(10))

      // It fails at once, and tells the balancer.
      for target in ["/readyz", "/api/notifications/\(unread)", "/api/notifications"] {
        let start = clock.now
        let answer = try RawConnection(port: node.port).exchange(
          "GET \(target) HTTP/1.1\r\n\(RunningServer.credentials("alice"))\r\n")
        #expect(answer.status == 503 && answer.fields["retry-after"] != nil, "\(target)")
        #expect(answer.text.contains("has not answered for"), "\(answer.text)")
        #expect(clock.now - start < .seconds(1))
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
        for number in 0..<10 {
          let id = try await other.client("shop").create(Self.link("\(number)")).id
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
          #expect(.now - withdrawn < .seconds(1))
        }
      }
    }
  }
}
