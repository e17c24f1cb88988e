import Foundation
import RichPushClient
import StandIns
import Testing
import Waiting

/// Three nodes behind the documented balancer, of which one or all do not reach the database.
@Suite(
  .enabled(if: Cluster.isPossible, "needs the packages postgresql-15 and haproxy"),
  .timeLimit(.minutes(30)))
struct DatabaseAwaySystemTests {
  private static let clock = ContinuousClock()

  @Test func `media of a moment ago is served while no node reaches the database`() async throws {
    try await Cluster.lend { cluster in
      let away = try await repeatedly(until: \.isAsPromised) { try await Self.away(cluster) }
      #expect(away.isAsPromised, "\(away)")
    }
  }

  /// What was answered without a database.
  private struct Away {
    /// To requests for what was fetched a moment ago: how often, by status.
    var statuses: [Int: Int] = [:]
    var longest = Duration.zero
    /// To the requests for everything else, which took so long together.
    var others: [Int] = []
    var othersTime = Duration.zero

    var isAsPromised: Bool {
      Set(statuses.keys) == [200] && longest < .seconds(1) && others == [503, 503]
        && othersTime < .seconds(1)
    }
  }

  /// Stops the database, asks for what can and cannot be answered, and starts it again.
  private static func away(_ cluster: Cluster) async throws -> Away {
    let shop = cluster.client("shop")
    let (hot, cold) = (try await create(shop), try await create(shop))
    try await warm(hot, cluster)
    try cluster.database.stop()
    let start = clock.now
    try await eventually("no node is ready") {
      try cluster.nodes.allSatisfy { try $0.get("/readyz").status == 503 }
    }
    try await eventually("the balancer does not wait for one") {
      clock.now - start > .seconds(8)
    }
    var away = Away()
    while clock.now - start < .seconds(20) {
      let sent = clock.now
      away.statuses[try fetch(hot, cluster), default: 0] += 1
      away.longest = max(away.longest, clock.now - sent)
    }
    // Everything else is refused, at once.
    let unread = clock.now
    away.others.append(try fetch(cold, cluster))
    let page = try cluster.balancer.get("/api/notifications", RunningServer.credentials("alice"))
    away.others.append(page.status)
    away.othersTime = clock.now - unread
    if page.status == 503 { #expect(page.fields["retry-after"] != nil) }
    print("no database: \(away)")

    try cluster.database.start()
    let started = clock.now
    try await eventually("the cold one is served") { try fetch(cold, cluster) == 200 }
    print("no database: served again \(clock.now - started) after it was back")
    try await Cluster.patiently { try await shop.withdraw(hot) }
    try await eventually("no node serves what was withdrawn") {
      try cluster.nodes.allSatisfy { try status(of: hot, at: $0.port) == 404 }
    }
    try await eventually("all nodes are ready") {
      try cluster.nodes.allSatisfy { try $0.get("/readyz").status == 200 }
    }
    return away
  }

  @Test func `a node that is cut off is left out, and catches up when it is back`() async throws {
    try await Cluster.lend(isRelayed: true) { cluster in
      let cutOff = try await repeatedly(until: \.isAsPromised) { try await Self.cutOff(cluster) }
      #expect(cutOff.isAsPromised, "\(cutOff)")
    }
  }

  /// What was answered while a node was cut off from the database.
  private struct CutOff {
    /// How long the balancer passed on what was withdrawn.
    let passed: Duration
    /// What the node itself answered to requests for that.
    let own: Int
    /// What the balancer answered to requests for what was not withdrawn.
    let kept: Set<Int>

    /// The node itself still serves what it knew a moment ago.
    var isAsPromised: Bool { passed < .seconds(10) && own == 200 && kept == [200] }
  }

  /// Cuts the third node off, withdraws something at the first, and heals it.
  private static func cutOff(_ cluster: Cluster) async throws -> CutOff {
    let (node, other) = (cluster.nodes[2], cluster.nodes[0].client("shop"))
    let (gone, kept) = (try await create(other), try await create(other))
    for id in [gone, kept] { try await warm(id, cluster) }
    cluster.relays[2].cut(true)
    try await Cluster.patiently { try await other.withdraw(gone) }
    let withdrawn = clock.now
    var last = withdrawn
    while clock.now - withdrawn < .seconds(15) {
      let sent = clock.now
      if try fetch(gone, cluster) == 200 { last = sent }
    }
    print("one cut off: the balancer passed what was withdrawn for \(last - withdrawn)")
    let own = try status(of: gone, at: node.port)
    let statuses = try (0..<20).map { _ in try fetch(kept, cluster) }

    cluster.relays[2].cut(false)
    let healed = clock.now
    try await eventually("it is ready") { try node.get("/readyz").status == 200 }
    #expect(try status(of: gone, at: node.port) == 404)
    print("one cut off: ready \(clock.now - healed) after it was back")
    return CutOff(passed: last - withdrawn, own: own, kept: Set(statuses))
  }

  private static func create(_ shop: RichPushClient) async throws -> Int {
    try await Cluster.patiently { try await shop.create(.logo(to: "alice")).id }
  }

  /// Fetches a notification as alice from all event loops of all nodes, which remember it.
  private static func warm(_ id: Int, _ cluster: Cluster) async throws {
    for port in cluster.nodes.map(\.port) + [cluster.balancer.port] {
      try await eventually("it is served") {
        try (0..<40).allSatisfy { _ in try status(of: id, at: port) == 200 }
      }
    }
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
