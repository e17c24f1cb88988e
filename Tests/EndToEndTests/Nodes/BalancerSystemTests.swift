import Foundation
import RichPushClient
import Testing
import Waiting

/// The balancers of `docs/SCALING.md` in front of three nodes.
@Suite(
  .enabled(if: Cluster.isPossible, "needs the packages postgresql-15 and haproxy"),
  .timeLimit(.minutes(5)))
struct BalancerSystemTests {
  @Test(arguments: [Balancer.Program.haproxy, .nginx])
  func `streams and uploads pass at once, and a node that is killed is left out`(
    program: Balancer.Program
  ) async throws {
    try await Cluster.lend(balancer: program) { cluster in
      let (shop, alice) = (cluster.client("shop"), cluster.client("alice"))
      // The nodes share the drop folder, and one prepares what the other has taken.
      let shore = Package.root.appending(path: "Tests/Samples/shore.jpg")
      let upload = try await Child.run(
        "/usr/bin/curl",
        ["-s", "-i", "-u", "shop:shop", "-T", shore.path]
          + ["\(cluster.balancer.endpoint)/api/assets/img/shore.jpg"])
      #expect(upload.output.contains { $0.hasPrefix("HTTP/1.1 201") }, "\(upload.output)")
      var events = alice.events(after: "0").makeAsyncIterator()
      for number in 1...3 {
        let id = try await shop.create(
          NewNotification(
            "\(number)", richType: "img", payload: "shore.jpg", to: .users(["alice"]))
        ).id
        #expect(try await events.next()?.push.id == id)
        #expect(try await alice.media(id).bytes == Data(contentsOf: shore))
      }
      let metrics = try cluster.balancer.get("/metrics")
      #expect(metrics.status == 403)

      // Requests that find it dead go to another.
      let requests = try await repeatedly(until: \.areServed) {
        try await Self.failover(cluster, "\(program)")
      }
      #expect(requests.areServed, "\(requests)")
    }
  }

  /// Requests to the balancer while a node was killed.
  private struct Requests {
    let count: Int
    let failed: Int
    let longest: Duration

    var areServed: Bool { count > 10 && failed <= 1 && longest < .seconds(5) }
  }

  /// Kills the node that has the lead until another has taken it, and starts it again.
  private static func failover(_ cluster: Cluster, _ program: String) async throws -> Requests {
    var leads: [RunningServer] = []
    try await eventually("a node has the lead") {
      leads = try cluster.nodes.filter { try $0.measured("richpush_lead") == 1 }
      return leads.count == 1
    }
    let lead = try #require(leads.first)
    let others = cluster.nodes.filter { $0 !== lead }
    let requests = try await measure(cluster) {
      lead.send(SIGKILL)
      let start = ContinuousClock.now
      try await eventually("another node takes the lead") {
        try others.contains { try $0.measured("richpush_lead") == 1 }
      }
      print("\(program): the lead was taken over after \(ContinuousClock.now - start)")
    }
    print("\(program): failover when a node is killed: \(requests)")
    let shop = cluster.client("shop")
    _ = try await Cluster.patiently { try await shop.create(.logo(to: "alice")) }
    try await lead.restart(by: SIGKILL)
    try await eventually("it is ready again") { try lead.get("/readyz").status == 200 }
    return requests
  }

  /// Requests media through the balancer all the time.
  private static func measure(
    _ cluster: Cluster, _ fault: () async throws -> Void
  ) async throws -> Requests {
    let (shop, bob) = (cluster.client("shop"), cluster.client("bob"))
    let id = try await Cluster.patiently { try await shop.create(.logo(to: "bob")).id }
    _ = try await Cluster.patiently { try await bob.media(id) }
    let requests = Task {
      var (count, failed, longest) = (0, 0, Duration.zero)
      while !Task.isCancelled {
        let start = ContinuousClock.now
        do { _ = try await bob.media(id) } catch is RichPushError {
          if !Task.isCancelled { failed += 1 }
        }
        (count, longest) = (count + 1, max(longest, .now - start))
      }
      return (count, failed, longest)
    }
    try await Task.sleep(for: .milliseconds(500))
    try await fault()
    try await Task.sleep(for: .seconds(4))
    requests.cancel()
    let (count, failed, longest) = try await requests.value
    return Requests(count: count, failed: failed, longest: longest)
  }
}
