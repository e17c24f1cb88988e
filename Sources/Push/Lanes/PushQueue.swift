package import FoundationEssentials

/// The durable queue that lanes work off: the outbox of the store, or one in memory in tests.
package protocol PushQueue: Sendable {
  /// Records settlements and leases up to `limit` jobs of the lane that are due at `now`, those due
  /// longest first: in one commit, or nothing.
  ///
  /// No other process can lease the jobs before `until`; then they are due again, as after a crash. Of jobs with the
  /// same device and collapse id only the oldest unsettled one is leased, which keeps their order.
  func settleAndLease(
    _ settlements: [Settlement], lane: String, limit: Int, now: Date, until: Date
  ) async throws -> [PushJob]

  /// When a job of the lane is next due, or a lease ends; nil if none is queued.
  func nextDue(lane: String) async throws -> Date?
}

/// A push in the outbox, leased to a lane.
package struct PushJob: Sendable, Identifiable {
  /// The outbox's number of the job.
  package let id: Int
  package let push: OutgoingPush
  /// The number of failed attempts so far.
  package let attempts: Int
  /// The alert to send instead if the device's budget of silent pushes is used up.
  package let fallback: PushPayload?
  /// When silent pushes were sent to the same device within the last hour.
  package let recentSilentPushes: [Date]

  package init(
    id: Int, push: OutgoingPush, attempts: Int = 0, fallback: PushPayload? = nil,
    recentSilentPushes: [Date] = []
  ) {
    (self.id, self.push, self.attempts) = (id, push, attempts)
    (self.fallback, self.recentSilentPushes) = (fallback, recentSilentPushes)
  }
}

/// The outcome of a leased job for the outbox to record; it ends the lease.
package struct Settlement: Sendable, Equatable {
  /// The job's new state.
  package enum Outcome: Sendable, Equatable {
    /// Sent as this kind of push; the note, if any, goes into the receipt.
    case delivered(as: PushPayload.Kind, reference: String?, note: String?)
    /// The attempt failed; the job is due again at that time. Counts as an attempt.
    case retry(at: Date, reason: String)
    /// Not attempted; the job is due again at that time. Does not count as an attempt.
    case released(until: Date, reason: String)
    /// A dead letter; the registration is removed unless it was renewed after `since`.
    case deadToken(since: Date?, reason: String)
    /// A dead letter.
    case rejected(reason: String)
    /// It expired before it could be sent.
    case expired
  }

  /// The number of the job.
  package let job: Int
  /// The outcome.
  package let outcome: Outcome

  package init(job: Int, outcome: Outcome) { (self.job, self.outcome) = (job, outcome) }
}
