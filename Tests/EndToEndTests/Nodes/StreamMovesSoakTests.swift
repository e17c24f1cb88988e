import Foundation
import RichPushClient
import Testing

/// A stream at one node after the other, while others publish at all of them.
@Suite(
  .enabled(if: Cluster.isPossible, "needs the packages postgresql-15 and haproxy"),
  .timeLimit(.minutes(10)))
struct StreamMovesSoakTests {
  private static let moves = Soak.amount(short: 10, long: 50)
  private static let notifications = Soak.amount(short: 200, long: 10_000)
  private static let publishers = 4

  @Test func `a stream that moves between nodes sees each notification once while four publish`()
    async throws
  {
    try await Cluster.lend { cluster in
      let progress = SoakProgress("moves")
      async let published = Self.publish(on: cluster, progress)
      var (seen, last): ([Int], String) = ([], "0")
      for move in 1...Self.moves {
        let node = cluster.nodes[move % cluster.nodes.count]
        let enough = move * Self.notifications / Self.moves
        for try await event in node.client("alice").events(after: last) {
          (seen, last) = (seen + event.push.ids, event.id)
          progress.add("seen", event.push.ids.count)
          if seen.count >= enough { break }
        }
        progress.add("moves")
      }
      let ids = try await published
      let missing = Set(ids).subtracting(seen)
      #expect(missing.isEmpty, "\(missing.count) missing, such as \(missing.prefix(5))")
      #expect(seen.count == Set(seen).count, "\(seen.count - Set(seen).count) came again")
      #expect(Set(seen) == Set(ids) && ids.count == Self.notifications)
    }
  }

  /// Publishes through the balancer, and returns all IDs.
  private static func publish(on cluster: Cluster, _ progress: SoakProgress) async throws -> [Int] {
    try await withThrowingTaskGroup(of: [Int].self) { group in
      for publisher in 0..<publishers {
        group.addTask {
          let shop = cluster.client("shop")
          var ids: [Int] = []
          for number in stride(from: publisher, to: notifications, by: publishers) {
            var new = NewNotification.logo(to: "alice", "\(number)")
            new.idempotencyKey = "\(number)"
            ids.append(try await Cluster.patiently { [new] in try await shop.create(new).id })
            progress.add("published")
          }
          return ids
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
  }
}
