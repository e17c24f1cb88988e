package import FoundationEssentials

/// The durable queue that lanes work off; a store keeps it.
package protocol PushQueue: Sendable {
  /// Records what became of leased jobs and takes up to `limit` others of the lane, that are due at
  /// `now`, oldest first: all in one commit, or nothing.
  ///
  /// Until `until` nobody else gets them; after that they are due again, as after a crash.
  /// Of jobs with the same device and collapse id only the oldest unsettled one is given out,
  /// so that their order is kept.
  func exchange(
    _ settlements: [Settlement], lane: String, limit: Int, now: Date, until: Date
  ) async throws -> [PushJob]

  /// When a job of the lane next comes due (a lease's end included); nil when none waits.
  func nextDue(lane: String) async throws -> Date?
}
