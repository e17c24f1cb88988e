import Foundation
import RichPushClient
import Testing

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
      #expect(try await Self.herd(cluster, killing: false) == Self.renditions)
      let again = try await Self.herd(cluster, killing: true)
      #expect(again <= 3 * Self.renditions)
      print("nodes: with a node killed, \(again) renders for \(Self.renditions) renditions")
    }
  }

  /// How many renders the requests for new renditions took, at the nodes that still run.
  private static func herd(_ cluster: Cluster, killing: Bool) async throws -> Int {
    let width = killing ? 500 : 600
    let id = try await cluster.client("shop").create(
      NewNotification("m", richType: "img", payload: "beach.jpg", to: .users(["alice"]))
    ).id
    try await eventually("the samples are ready") {
      try await cluster.client("shop").assetCounts().ready >= 4
    }
    let survivors = killing ? Array(cluster.nodes.dropFirst()) : cluster.nodes
    let before = try survivors.reduce(0) { $0 + (try $1.measured(made)) }
    let targets = (0..<renditions).map { "/api/notifications/\(id)?width=\(width - $0)" }
    try await withThrowingTaskGroup { group in
      for node in cluster.nodes {
        let share = requests / cluster.nodes.count + 1
        let asked = (0..<share).flatMap { _ in targets.map { (login: "alice:alice", target: $0) } }
        let isKilled = killing && node === cluster.nodes[0]
        group.addTask {
          // The phones of the killed one find out on their own.
          if isKilled {
            _ = try? await Herd.ask(asked, of: node)
          } else {
            let rounds = try await Herd.ask(asked, of: node)
            #expect(rounds.allSatisfy { $0.sentAway == 0 })
            print("nodes: \(asked.count) requests at one node: \(rounds)")
          }
        }
      }
      if killing {
        try await eventually("it renders") { try cluster.nodes.reduce(0) { $0 + (try $1.measured(made)) } > before + 3 }
        cluster.nodes[0].send(SIGKILL)
      }
      try await group.waitForAll()
    }
    let after = try survivors.reduce(0) { $0 + (try $1.measured(made)) }
    if killing { try await cluster.nodes[0].restart(by: SIGKILL) }
    return Int(after - before)
  }
}
