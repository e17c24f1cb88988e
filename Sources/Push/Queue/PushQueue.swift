package import FoundationEssentials

/// The durable queue that lanes work off; a store keeps it.
package protocol PushQueue: Sendable {
  /// Takes up to `limit` jobs of the lane that are due at `now`, oldest first.
  ///
  /// Until `until` nobody else gets them; after that they are due again, as after a crash.
  /// Of jobs with the same device and collapse id only the oldest unsettled one is given out,
  /// so that their order is kept.
  func lease(lane: String, limit: Int, now: Date, until: Date) async throws -> [PushJob]

  /// Records what became of leased jobs, all in one transaction.
  func settle(_ settlements: [Settlement]) async throws

  /// When a job of the lane next comes due (a lease's end included); nil when none waits.
  func nextDue(lane: String) async throws -> Date?
}
