import Foundation
import RichPushClient
import Testing
import Waiting

/// What has ended at one node is answered by no other a second later.
@Suite(
  .enabled(if: Cluster.isPossible, "needs the packages postgresql-15 and haproxy"),
  .timeLimit(.minutes(15)))
struct FreshnessSoakTests {
  private static let tries = Soak.amount(short: 40, long: 1000)
  private static let lanes = 10
  /// How long what has ended may be answered.
  private static let limit = Duration.seconds(1)

  private enum Change: CaseIterable { case tokenRevoked, userRemoved, withdrawn, amended }

  @Test func `what a node has ended is ended at every node within a second, under load`()
    async throws
  {
    try await Cluster.lend { cluster in
      let progress = SoakProgress("freshness")
      let load = Task { try await Self.load(cluster) }
      let times = try await withThrowingTaskGroup(of: [(Change, Duration)].self) { group in
        for lane in 0..<Self.lanes {
          group.addTask {
            // Each has its own, because a wrong token takes as long as a wrong password.
            let probes = cluster.nodes.map { Freshness(port: $0.port) }
            defer { for probe in probes { probe.end() } }
            var times: [(Change, Duration)] = []
            for number in stride(from: lane, to: Self.tries, by: Self.lanes) {
              let change = Change.allCases[number / Self.lanes % Change.allCases.count]
              var attempts = 0
              let result = try await repeatedly(until: { (result: Freshness.Result) in
                result.stale < Self.limit || !result.isHeldUp
              }) {
                attempts += 1
                return try await Self.attempt(
                  change, number + attempts * 1_000_000, cluster, probes)
              }
              #expect(result.stale < Self.limit, "\(change): \(result)")
              times.append((change, result.stale))
              progress.add("tries")
            }
            return times
          }
        }
        return try await group.reduce(into: []) { $0 += $1 }
      }
      load.cancel()
      let fetches = try await load.value
      for change in Change.allCases {
        let all = times.filter { $0.0 == change }.map { max(.zero, $0.1) / .milliseconds(1) }
          .sorted()
        print(
          "nodes: \(all.count) times \(change): until \(all[all.count / 2]) ms after it in the median,",
          "\(all.last ?? 0) ms at most")
      }
      print("nodes: meanwhile \(fetches) fetches of others")
      #expect(times.count == Self.tries)
    }
  }

  /// Changes what all nodes have answered; returns the longest times of any of them.
  private static func attempt(
    _ change: Change, _ number: Int, _ cluster: Cluster, _ probes: [Freshness]
  ) async throws -> Freshness.Result {
    let (subject, end) = try await prepare(change, number, cluster)
    for probe in probes { probe.watch(number, subject) }
    try await eventually("all nodes have answered \(change)") {
      probes.allSatisfy { $0.hasAsked(number) }
    }
    try await Cluster.patiently(end)
    for probe in probes { probe.noteChange(of: number) }
    try await eventually("all nodes were asked later than that") {
      probes.allSatisfy { $0.hasAsked(number, later: limit) }
    }
    let results = try probes.map { try #require($0.stop(number)) }
    return Freshness.Result(
      stale: results.map(\.stale).max() ?? .zero, slowest: results.map(\.slowest).max() ?? .zero)
  }

  /// What the nodes are asked, and what changes the answer.
  private static func prepare(
    _ change: Change, _ number: Int, _ cluster: Cluster
  ) async throws -> (Freshness.Subject, @Sendable () async throws -> Void) {
    let name = "fresh\(number)"
    let (shop, user) = (cluster.client("shop"), cluster.client(name))
    let link = "https://example.org/\(number)"
    // Only what is amended has content of its own, which is uploaded to the object store.
    let new =
      change == .amended
      ? NewNotification("m", richType: "url", payload: link, to: .users([name])) : .logo(to: name)
    let id = try await Cluster.patiently { try await shop.create(new).id }
    func head(_ method: String, _ authorization: String) -> String {
      "\(method) /api/notifications/\(id) HTTP/1.1\r\nAuthorization: \(authorization)\r\n"
    }
    let basic = "Basic " + Data("\(name):\(name)".utf8).base64EncodedString()
    switch change {
    case .tokenRevoked, .userRemoved:
      let (device, token) = try await Cluster.patiently {
        var phone = user
        let device = try await phone.register(handle: "\(0xABC0_0000 + number)")
        phone.device = device
        return (device, "Bearer " + (try await phone.deviceToken()))
      }
      return (
        Freshness.Subject(head: head("GET", token), staleStatuses: [200]),
        {
          if change == .tokenRevoked { return try await user.unregister(device) }
          try await cluster.client("admin").removeUser(name)
        }
      )
    case .withdrawn:
      return (
        Freshness.Subject(head: head("GET", basic), staleStatuses: [200]),
        { try await shop.withdraw(id) }
      )
    case .amended:
      // Not by GET: what a device has fetched is not amended.
      let first = try RawConnection(port: cluster.balancer.port)
        .exchange(head("HEAD", basic), isHead: true)
      let condition = "If-None-Match: \(first.fields["etag"] ?? "none")\r\n"
      return (
        Freshness.Subject(head: head("HEAD", basic) + condition, staleStatuses: [304]),
        { _ = try await shop.amend(id, Amendment(payload: link + "/new")) }
      )
    }
  }

  /// Publishes and fetches until it is cancelled; returns how often.
  private static func load(_ cluster: Cluster) async throws -> Int {
    try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<4 {
        group.addTask {
          let (shop, bob) = (cluster.client("shop"), cluster.client("bob"))
          var count = 0
          while !Task.isCancelled {
            guard let id = try? await shop.create(.logo(to: "bob")).id else { continue }
            for _ in 0..<20 where (try? await bob.media(id)) != nil { count += 1 }
          }
          return count
        }
      }
      return try await group.reduce(0, +)
    }
  }
}

extension Freshness.Result {
  /// Whether a node, or the whole machine, stood still meanwhile.
  fileprivate var isHeldUp: Bool { slowest > .milliseconds(200) }
}
