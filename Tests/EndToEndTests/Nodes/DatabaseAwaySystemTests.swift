import Foundation
import RichPushClient
import StandIns
import Testing

/// Three nodes behind the documented balancer, of which one or all do not reach the database.
@Suite(
  .enabled(if: Cluster.isPossible, "needs the packages postgresql-15 and haproxy"),
  .timeLimit(.minutes(5)))
struct DatabaseAwaySystemTests {
  private static let clock = ContinuousClock()

  @Test func `media of a moment ago is served while no node reaches the database`() async throws {
    try await Cluster.lend { cluster in
      let shop = cluster.client("shop")
      let (hot, cold) = (
        try await shop.create(.logo(to: "alice")).id, try await shop.create(.logo(to: "alice")).id
      )
      try await Self.warm(hot, cluster)
      try cluster.database.stop()
      let start = Self.clock.now
      try await eventually("no node is ready") {
        try cluster.nodes.allSatisfy { try $0.get("/readyz").status == 503 }
      }
      try await eventually("the balancer does not wait for one") {
        Self.clock.now - start > .seconds(8)
      }
      var statuses: [Int: Int] = [:]
      var longest = Duration.zero
      while Self.clock.now - start < .seconds(20) {
        let sent = Self.clock.now
        statuses[try Self.fetch(hot, cluster), default: 0] += 1
        longest = max(longest, Self.clock.now - sent)
      }
      print("no database: \(statuses) by status, the longest took \(longest)")
      #expect(Set(statuses.keys) == [200] && longest < .seconds(1))
      // Everything else is refused, at once.
      let unread = Self.clock.now
      #expect(try Self.fetch(cold, cluster) == 503)
      let page = try cluster.balancer.get(
        "/api/notifications", RunningServer.credentials("alice"))
      #expect(page.status == 503 && page.fields["retry-after"] != nil)
      #expect(Self.clock.now - unread < .seconds(1))

      try cluster.database.start()
      let started = Self.clock.now
      try await eventually("the cold one is served") { try Self.fetch(cold, cluster) == 200 }
      print("no database: served again \(Self.clock.now - started) after it was back")
      try await Cluster.patiently { try await shop.withdraw(hot) }
      try await eventually("no node serves what was withdrawn") {
        try cluster.nodes.allSatisfy { try Self.status(of: hot, at: $0.port) == 404 }
      }
      try await eventually("all nodes are ready") {
        try cluster.nodes.allSatisfy { try $0.get("/readyz").status == 200 }
      }
    }
  }

  @Test func `a node that is cut off is left out, and catches up when it is back`() async throws {
    try await Cluster.lend(isRelayed: true) { cluster in
      let other = cluster.nodes[0].client("shop")
      let (gone, kept) = (
        try await other.create(.logo(to: "alice")).id, try await other.create(.logo(to: "alice")).id
      )
      for id in [gone, kept] { try await Self.warm(id, cluster) }
      cluster.relays[2].cut(true)
      try await other.withdraw(gone)
      let withdrawn = Self.clock.now
      var last = withdrawn
      while Self.clock.now - withdrawn < .seconds(15) {
        let sent = Self.clock.now
        if try Self.fetch(gone, cluster) == 200 { last = sent }
      }
      print("one cut off: the balancer passed what was withdrawn for \(last - withdrawn)")
      #expect(last - withdrawn < .seconds(10))
      // The node itself still serves what it knew a moment ago.
      #expect(try Self.status(of: gone, at: cluster.nodes[2].port) == 200)
      for _ in 0..<20 { #expect(try Self.fetch(kept, cluster) == 200) }

      cluster.relays[2].cut(false)
      let healed = Self.clock.now
      try await eventually("it is ready") { try cluster.nodes[2].get("/readyz").status == 200 }
      #expect(try Self.status(of: gone, at: cluster.nodes[2].port) == 404)
      print("one cut off: ready \(Self.clock.now - healed) after it was back")
    }
  }

  /// Fetches a notification as alice from all event loops of all nodes, which remember it.
  private static func warm(_ id: Int, _ cluster: Cluster) async throws {
    for node in cluster.nodes {
      for _ in 0..<40 { #expect(try status(of: id, at: node.port) == 200) }
    }
    #expect(try fetch(id, cluster) == 200)
  }

  private static func fetch(_ id: Int, _ cluster: Cluster) throws -> Int {
    try status(of: id, at: cluster.balancer.port)
  }

  /// What is answered to alice, on a connection of its own.
  private static func status(of id: Int, at port: Int) throws -> Int {
    try RawConnection(port: port).exchange(
      "GET /api/notifications/\(id) HTTP/1.1\r\n\(RunningServer.credentials("alice"))\r\n"
    ).status
  }
}
