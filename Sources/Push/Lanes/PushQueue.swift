package import FoundationEssentials

/// The durable queue that lanes work off: the outbox of the store, or one in memory in tests.
package protocol PushQueue: Sendable {
  /// Records settlements, in the order in which the service answered, and leases up to `limit` jobs of the lane that
  /// are due at `now`, those due longest first: in one commit, or nothing.
  ///
  /// While the lane is paused, which it is after `stopped` and when its service refuses all pushes, only a probe is
  /// leased, when the pause is over.
  ///
  /// No other process can lease the jobs before `until`; then they are due again, as after a crash. Of jobs with the
  /// same device and collapse id only the oldest unsettled one is leased, which keeps their order.
  func settleAndLease(
    _ settlements: [Settlement], lane: PushLane, limit: Int, now: Date, until: Date
  ) async throws -> PushLease

  /// Tells that a lane starts to send.
  func begin(_ lane: PushLane) async throws

  /// When a job of the lane is next due, or a lease ends; nil if none is queued.
  func nextDue(lane: String) async throws -> Date?
}

/// A lane as its queue knows it.
package struct PushLane: Sendable {
  /// The provider's name.
  package let name: String
  /// The provider's settings.
  package let settings: String
  /// The service's traits.
  package let traits: PushTraits
  /// Makes the payload of the pushes that announce a message.
  package let payload: @Sendable (PushMessage) -> PayloadTemplate

  package init(
    name: String, settings: String, traits: PushTraits,
    payload: @escaping @Sendable (PushMessage) -> PayloadTemplate
  ) {
    (self.name, self.settings, self.traits, self.payload) = (name, settings, traits, payload)
  }

  init(_ provider: any PushProvider) {
    self.init(
      name: provider.name, settings: provider.settings, traits: provider.traits,
      payload: provider.payload)
  }
}

/// What a lane gets from its queue.
package struct PushLease: Sendable {
  /// The jobs to send.
  package var jobs: [PushJob]
  /// Why and until when the lane is paused; nil while it is not.
  package var pause: PushPause?
  /// The number of registrations that have ended with the settlements.
  package var ended: Int

  package init(jobs: [PushJob], pause: PushPause? = nil, ended: Int = 0) {
    (self.jobs, self.pause, self.ended) = (jobs, pause, ended)
  }
}

/// A pause of a lane until its operator has acted.
package struct PushPause: Sendable, Equatable {
  /// Since when.
  package let since: Date
  /// When the next probe is sent.
  package let until: Date
  /// What the operator has to do.
  package let reason: String

  package init(since: Date, until: Date, reason: String) {
    (self.since, self.until, self.reason) = (since, until, reason)
  }
}

/// A push in the outbox, leased to a lane.
package struct PushJob: Sendable, Identifiable {
  /// The outbox's number of the job.
  package let id: Int
  package let push: OutgoingPush
  /// The number of failed attempts so far.
  package let attempts: Int
  /// The unread count of the device's user, if the push has a badge.
  package let unread: Int
  /// When silent pushes were sent to the same device within the last hour.
  package let recentSilentPushes: [Date]
  /// The secret with which the device answers; nil if the push has no buttons.
  package let secret: String?

  package init(
    id: Int, push: OutgoingPush, attempts: Int = 0, unread: Int = 0,
    recentSilentPushes: [Date] = [], secret: String? = nil
  ) {
    (self.id, self.push, self.attempts) = (id, push, attempts)
    (self.unread, self.recentSilentPushes) = (unread, recentSilentPushes)
    self.secret = secret
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
    /// A dead letter; the registration ends unless it was renewed after `since`.
    case deadToken(since: Date?, reason: String)
    /// Waits until the service accepts another push, and is a dead letter then; with `endsRegistration` the
    /// registration ends as for `deadToken`.
    case refused(endsRegistration: Bool, since: Date?, reason: String)
    /// Not attempted; the lane is paused.
    case stopped(reason: String)
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
