import Foundation
import RichPushClient
import Testing
import Waiting

/// The cluster of `richpush-cluster` under load, while each of its parts goes away and it is upgraded.
@Suite(
  .enabled(
    if: ClusterProgram.isPossible, "needs the packages haproxy, postgresql-15 and python3-swift"),
  .timeLimit(.minutes(60)))
struct ClusterProgramSoakTests {
  private static let rounds = Soak.amount(short: 1, long: 12)

  @Test func `no acknowledged send is lost, and no fetch fails`() async throws {
    let cluster = try ClusterProgram()
    let up = try await cluster.run(cluster.up())
    #expect(up.exitCode == 0, "\(up)")
    let progress = SoakProgress("cluster")
    for round in 0..<Self.rounds {
      let node = String(round % 3 + 1)
      // What is longest away is a database that has crashed, until it has recovered.
      let traffic = try await ClusterTraffic.during(cluster, patience: .seconds(15)) {
        try await cluster.expect("stop", "database")
        try await cluster.expect("start", "database")
        try await settle(cluster)
        try await cluster.expect("pause", "store")
        // Longer than the checks of the balancer need, and than requests to the store wait.
        try await Task.sleep(for: .seconds(7))
        try await cluster.expect("resume", "store")
        try await settle(cluster)
        try await cluster.expect("kill", node)
        try await cluster.expect("start", node)
        try await settle(cluster)
        try await cluster.expect("kill", "database")
        try await cluster.expect("start", "database")
        try await settle(cluster)
        try await cluster.expect("upgrade")
      }
      #expect(traffic.failures.isEmpty, "round \(round): \(traffic.failures.prefix(5))")
      #expect(traffic.fetches > 10 && traffic.acknowledged.count > 3)
      progress.add("fetches", traffic.fetches)
      progress.add("fetches that took more than one request", traffic.repeated)
      progress.add("acknowledged", traffic.acknowledged.count)
    }
    #expect(try await cluster.expect("run", "store", "check").last?.contains("verified") == true)
    try await cluster.expect("down", "--purge")
    #expect(cluster.processes.isEmpty, "\(cluster.processes)")
  }

  /// All of it is ready again, also for the balancer.
  private func settle(_ cluster: ClusterProgram) async throws {
    try await eventually("it is ready: \(cluster.folder)") {
      let status = try await cluster.run(["status"])
      let routed = status.output.filter { $0.contains("for HAProxy UP with") }
      return status.exitCode == 0 && routed.count == 3
    }
  }
}
