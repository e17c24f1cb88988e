import Foundation
import RichPushClient
import Testing
import Waiting

/// Phones that ask several nodes at the same moment for what none of them has rendered.
@Suite(
  .enabled(if: Cluster.isPossible, "needs the packages postgresql-15 and haproxy"),
  .timeLimit(.minutes(10)))
struct RenderOnceSoakTests {
  private static let renditions = Soak.amount(short: 10, long: 100)
  /// For each rendition.
  private static let requests = Soak.amount(short: 30, long: 200)
  private static let made = #"richpush_renditions_total{outcome="made"}"#

  @Test func `a herd at three nodes has each rendition made once, and few again when a node dies`()
    async throws
  {
    try await Cluster.lend(flags: ["--connections-per-address", "20000"]) { cluster in
      try await eventually("the samples are ready") {
        try await cluster.client("shop").assetCounts().ready >= 4
      }
      let id = try await cluster.client("shop").create(
        NewNotification("m", richType: "img", payload: "beach.jpg", to: .users(["alice"]))
      ).id
      // Each attempt asks for renditions that none has: in between are no others.
      var widths = [160, 240, 320, 400, 480, 512].makeIterator()
      let all = try await repeatedly(until: {
        $0.renders == Self.renditions && $0.sentAway == 0
      }) {
        try await Self.herd(cluster, id, width: try #require(widths.next()))
      }
      #expect(all.renders == Self.renditions && all.sentAway == 0)
      let rest = try await repeatedly(until: {
        $0.renders <= 3 * Self.renditions && $0.sentAway == 0
      }) {
        try await Self.herd(
          cluster, id, width: try #require(widths.next()), killing: cluster.nodes[0])
      }
      #expect(rest.renders <= 3 * Self.renditions && rest.sentAway == 0)
      print(
        "nodes: \(all.renders) renders for as many renditions;",
        "\(rest.renders) by the others of a killed node")
    }
  }

  /// How many renders the requests for new renditions took, and how many were refused, at the nodes that still run.
  private static func herd(
    _ cluster: Cluster, _ id: Int, width: Int, killing killed: RunningServer? = nil
  ) async throws -> (renders: Int, sentAway: Int) {
    let survivors = cluster.nodes.filter { $0 !== killed }
    let rendered = { (nodes: [RunningServer]) in
      try Int(nodes.reduce(0) { $0 + (try $1.measured(made)) })
    }
    let (before, all) = (try rendered(survivors), try rendered(cluster.nodes))
    let targets = (100..<100 + renditions).map { place in
      "/api/notifications/\(id)?width=\(width)&height=240&fit=cover&focus=0.\(place),0.5"
    }
    let share = requests / cluster.nodes.count + 1
    let asked = (0..<share).flatMap { _ in targets.map { (login: "alice:alice", target: $0) } }
    let sentAway = try await withThrowingTaskGroup(of: Int.self) { group in
      for node in cluster.nodes {
        group.addTask {
          let rounds = try await Herd.ask(asked, of: node, mayDie: node === killed)
          print("nodes: \(asked.count) requests at one node: \(rounds)")
          return rounds.reduce(0) { $0 + $1.sentAway }
        }
      }
      if let killed {
        try await eventually("some are rendered") { try rendered(cluster.nodes) > all + 3 }
        killed.send(SIGKILL)
      }
      return try await group.reduce(0, +)
    }
    let count = try rendered(survivors) - before
    if let killed { _ = try await killed.restart(by: SIGKILL) }
    return (count, sentAway)
  }
}
