import Foundation
import RichPushClient
import StandIns
import Testing
import Waiting

/// The real program on PostgreSQL: one node, and two that share a database.
@Suite(
  .enabled(if: PostgresServer.isInstalled, "needs the package postgresql-15"),
  .timeLimit(.minutes(5)))
struct PostgresNodesSystemTests {
  private func flags(_ server: PostgresServer) -> [String] { ["--demo", "--database", server.url] }

  /// A link, which any node renders without the files of another.
  private static func link(_ message: String) -> NewNotification {
    NewNotification(
      NotificationMessage(message), richType: "url",
      payload: "https://example.org/\(message)", to: .users(["alice"]))
  }

  private func ready(_ server: RunningServer) throws -> Int {
    try RawConnection(port: server.port).exchange("GET /readyz HTTP/1.1\r\n").status
  }

  @Test func `one node registers, notifies and serves, and comes back with its database`()
    async throws
  {
    let database = try PostgresServer()
    try await RunningServer.lend(flags: flags(database)) { server in
      let alice = server.client("alice")
      try await alice.register(handle: "AB12")
      let first = try await alice.create(.logo(to: "alice"))
      #expect(first.id == 0)
      let media = try await alice.media(first.id, options: MediaOptions(width: 96))
      #expect(media.contentType == "image/png")
      #expect(try await alice.inbox().notifications.count == 1)
      #expect(try ready(server) == 200)
      let files = try ProcessFacts.mappedFiles(of: server.processIdentifier)
      #expect(files.contains { $0.hasPrefix("libpq.so") })

      try database.stop()
      try await eventually("/readyz says that the database is away") { try ready(server) == 503 }
      // An attempt to connect may take as long as a check waits for the store.
      try await eventually("it says why") {
        let answer = try RawConnection(port: server.port).exchange("GET /readyz HTTP/1.1\r\n")
        return answer.fields["retry-after"] != nil && answer.text.contains("database")
      }
      // What was fetched before is served on.
      let again = try await alice.media(first.id, options: MediaOptions(width: 96))
      #expect(again.bytes == media.bytes)
      await #expect(throws: (any Error).self) { try await alice.create(.logo(to: "alice")) }

      try database.start()
      try await eventually("the node is ready again") { try ready(server) == 200 }
      try await eventually("another can be created") {
        (try? await alice.create(.logo(to: "alice")).id) ?? 0 > first.id
      }
      #expect(try await alice.inbox().notifications.count == 2)
    }
  }

  @Test func `a notification whose ID has more than 32 bits is listed and fetched`() async throws {
    let database = try PostgresServer()
    try await RunningServer.lend(flags: flags(database)) { server in
      let (shop, alice) = (server.client("shop"), server.client("alice"))
      try database.query("SELECT setval('notification_id', 3000000000)")
      let ids = [
        try await shop.create(Self.link("1")).id, try await shop.create(Self.link("2")).id,
      ]
      #expect(ids[0] > 3_000_000_000)
      #expect(try await alice.media(ids[0]).bytes.count > 0)
      #expect(try await alice.inbox(before: ids[1]).notifications.map(\.id) == [ids[0]])
      #expect(try await shop.sent(before: ids[1]).notifications.map(\.id) == [ids[0]])
      try await shop.withdraw(ids[0])
      #expect(try await alice.inbox().notifications.map(\.id) == [ids[1]])
    }
  }

  @Test func `what is published at one node is fetched at the other, and its stream tells of it`()
    async throws
  {
    let database = try PostgresServer()
    try await RunningServer.lend(flags: flags(database)) { first in
      try await RunningServer.lend(flags: flags(database)) { second in
        let (shop, alice) = (first.client("shop"), second.client("alice"))
        var events = alice.events(after: "0").makeAsyncIterator()
        var ids: [Int] = []
        for number in 1...5 {
          // From both nodes in turn.
          let publisher = number % 2 == 0 ? second.client("shop") : shop
          ids.append(try await publisher.create(Self.link("\(number)")).id)
        }
        for number in 1...5 {
          let event = try #require(try await events.next())
          #expect(event.push.message.text == "\(number)")
        }
        for id in ids {
          #expect(try await alice.media(id).bytes.count > 0)
        }
        // Withdrawn at one node, it is gone at the other, where it was served from memory.
        // Another one is, where the machine stood still for a moment.
        var times: [Duration] = []
        for id in ids.prefix(3) where times.allSatisfy({ $0 >= .seconds(1) }) {
          try await shop.withdraw(id)
          let start = ContinuousClock.now
          try await eventually("it is withdrawn at the other node") {
            (try? await alice.media(id)) == nil
          }
          times.append(.now - start)
        }
        #expect(times.contains { $0 < .seconds(1) }, "\(times)")
        // The stream moves to the other node and misses nothing.
        let last = try #require(try await lastEvent(alice))
        _ = try await second.client("shop").create(Self.link("6"))
        var moved = first.client("alice").events(after: last).makeAsyncIterator()
        #expect(try await moved.next()?.push.message.text == "6")
      }
    }
  }

  /// The ID of the last of the five events that are still valid.
  private func lastEvent(_ client: RichPushClient) async throws -> String? {
    var last: String?
    for try await event in client.events(after: "0") {
      last = event.id
      if event.push.message.text == "5" { break }
    }
    return last
  }
}
