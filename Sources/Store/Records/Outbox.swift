package import FoundationEssentials

/// A push to insert: a message over one lane, with a job for each device.
package struct PushInsert: Sendable {
  /// Who gets it.
  package enum Target: Sendable {
    /// Registrations by id; one that no longer exists gets no job.
    case devices(RegistrationIDs)
    /// A tag expression that the push service resolves, in one job; `user` is the only user it matches, if
    /// there is just one.
    case audience(String, user: UserID? = nil)
  }

  /// The lane (push provider) that sends it.
  package var lane: String
  /// Who gets it.
  package var target: Target
  /// The kind of push that it is (`background` or `alert`).
  package var kind: String
  /// The message, if the push belongs to no notification.
  package var message: String?
  /// What a device needs to know of the media that the push has a link to, as JSON text, or nil; the store only keeps
  /// it.
  package var media: String?
  /// Pushes to one device with the same collapse ID are sent in order and replace each other; nil for one of the
  /// notification's own.
  package var collapseID: String?
  /// Whether it does not wait for the end of a device's quiet hours.
  package var isUrgent = false
  /// When it is first due, if not with its notification.
  package var scheduled: Date?

  /// Describes a push; the optional members can be set afterwards.
  package init(lane: String, target: Target, kind: String) {
    (self.lane, self.target, self.kind) = (lane, target, kind)
  }

  /// The collapse ID of a push of a notification, or of one that belongs to none.
  func collapseID(of notification: Int?) -> String? {
    collapseID ?? notification.map(Self.collapseID(ofNotification:))
  }

  /// The column `urgent`: 1 or NULL.
  var urgent: Int? { isUrgent ? 1 : nil }

  /// The collapse ID of the pushes of a notification that have no other.
  package static func collapseID(ofNotification id: Int) -> String { "rich-\(id)" }
}

/// What a push announces.
package struct StoredPush: Sendable, Equatable {
  /// A version of a notification's message, or one that belongs to no notification.
  package let message: StoredMessage
  /// ``PushInsert/media``.
  package let media: String?
  /// The notification as it is now; nil if the push belongs to none.
  package let notification: StoredNotification?

  /// Describes a push.
  package init(message: StoredMessage, media: String?, notification: StoredNotification?) {
    (self.message, self.media, self.notification) = (message, media, notification)
  }
}

/// A version of a message.
package struct StoredMessage: Sendable, Equatable {
  /// The text people see.
  package var text: String
  /// What else it says, as JSON text that the store only keeps; nil if nothing.
  package var members: String?
  /// The form of its pushes, as the publisher wrote it; the store only keeps it.
  package var form: String

  /// Describes a version.
  package init(_ text: String, members: String? = nil, form: String = "") {
    (self.text, self.members, self.form) = (text, members, form)
  }
}

/// The state of a push to one device.
package enum JobState: String, Sendable, CaseIterable {
  /// Waits until it is due, or is being sent.
  case queued
  /// The push service accepted it.
  case sent
  /// A dead letter: it is sent again only when an operator replays it.
  case failed
  /// It expired before it could be sent.
  case expired
  /// It was withdrawn before it was sent.
  case cancelled
}

/// A job leased to a lane until the time that the lane named.
package struct LeasedJob: Sendable, Equatable {
  /// Who gets the push.
  package enum Target: Sendable, Equatable {
    /// A device by its push token and platform.
    case device(handle: String, platform: String)
    /// A device by its endpoint and the keys that its pushes are encrypted with.
    case subscription(endpoint: String, keys: String)
    /// A tag expression for the push service to resolve.
    case audience(String)
  }

  /// The job's number; numbers rise in the order of commits.
  package let id: Int
  /// A lower-case UUID, the same at every attempt.
  package let token: String
  /// The number of what it announces, a ``StoredPush`` that never changes but for the notification's own state.
  package let push: Int
  /// The notification it announces, or nil.
  package let notificationID: Int?
  /// The user whose device it is, or nil for an audience.
  package let user: UserID?
  /// Who gets the push.
  package let target: Target
  /// The kind of push that it is.
  package let kind: String
  /// Later pushes with this id replace it, or nil.
  package let collapseID: String?
  /// When it expires, or nil.
  package let expires: Date?
  /// The number of failed attempts so far.
  package let attempts: Int
  /// The language that the device prefers, or nil.
  package let language: String?
  /// When background pushes were sent to the same device (or audience) within the last hour, newest
  /// first; read for background pushes only.
  package let recentSilentPushes: [Date]
}

/// The result of sending a leased job.
package enum JobOutcome: Sendable, Equatable {
  /// The push service accepted it as this kind of push, under its own reference.
  case delivered(as: String, reference: String?, note: String?)
  /// The attempt failed; the job is due again at that time.
  case retry(at: Date, reason: String)
  /// Not attempted; the job is due again at that time.
  case released(until: Date, reason: String)
  /// Failed permanently; the registration ends unless it was renewed after `since`, or, if that is nil, after
  /// the job was leased.
  case deadToken(since: Date?, reason: String)
  /// Refused; the job waits until the service has accepted another one, and then fails. With `endsRegistration`
  /// the registration ends with it, as for `deadToken`.
  case refused(endsRegistration: Bool, since: Date?, reason: String)
  /// The operator has to act: not attempted, and the lane is paused.
  case stopped(reason: String)
  /// Failed permanently.
  case rejected(reason: String)
  /// It expired before it could be sent.
  case expired

  /// Whether the push service accepted it.
  var isDelivered: Bool { if case .delivered = self { true } else { false } }
}

/// A row of the job table as operators and publishers see it: the state of a push to one device.
package struct JobRecord: Sendable, Equatable {
  /// The job's number.
  package let job: Int
  /// The notification it announces, or nil.
  package let notificationID: Int?
  /// The lane that sends it.
  package let lane: String
  /// The user whose device it is; nil for an audience.
  package let userID: UserID?
  /// The user's name; nil for an audience and for a removed user.
  package let user: String?
  /// The id of the device's registration, or nil for an audience.
  package let registration: String?
  /// Its state.
  package let state: JobState
  /// The number of attempts.
  package let attempts: Int
  /// When it is due or its lease ends, while it is queued.
  package let due: Date
  /// When its state last changed.
  package let updated: Date
  /// The push service's reference, once it has been sent.
  package let reference: String?
  /// Why it is in this state, or nil.
  package let reason: String?
}

/// To whom a job sends which notification.
package struct JobAddressee: Sendable, Equatable {
  /// The UUID of the job, which nobody can guess.
  package let token: String
  /// The notification.
  package let notification: Int
  /// The user whose device it is.
  package let user: UserID
  /// The user's name.
  package let name: String
  /// The device's registration; nil for an audience.
  package let registration: String?
  /// Whether the device is still registered for the user; true for an audience.
  package let isRegistered: Bool
}

/// The transactional outbox of pushes: one job for each device, sent at least once.
///
/// Jobs are inserted in the same transaction as their notification. A lane leases the due jobs and
/// settles them. A job that is neither settled nor released is due again when its lease ends, or at the
/// node's next start, so that none is lost in a crash.
package protocol Outbox: Sendable {
  // MARK: Sending

  /// Records the outcomes of leased jobs, in the order in which the service answered, and leases up to `limit` due
  /// jobs of the lane until `until`, those due longest first: in one commit, or nothing.
  ///
  /// While the lane is paused, only a probe is leased, when the pause is over. If its service has refused many in a
  /// row (`RefusalRule`), a few of the devices that were heard of last are tried; if all are refused, the pause
  /// begins.
  ///
  /// An outcome is ignored if its lease has passed to another process; if the job was cancelled meanwhile,
  /// only `delivered` counts.
  ///
  /// Of the lane's jobs with the same device (or audience) and collapse id only the oldest unsettled one
  /// is leased, and none while a cancelled one is still being sent. A job whose device was removed, or
  /// belongs to another user now, is not leased but fails. One whose device has a quiet period is not leased but due
  /// when that is over, unless it is urgent; it is cancelled then if the user has read the notification meanwhile.
  func settleAndLease(
    _ outcomes: [(job: Int, outcome: JobOutcome)], lane: SendingLane, limit: Int, until: Date
  ) async throws -> Lease
  /// What a push announces; nil if there is no such push any more.
  func push(_ push: Int) async throws -> StoredPush?
  /// Tells that a lane starts: what its service refused under other settings is sent again, and a pause under these
  /// is over for a probe.
  func begin(_ lane: SendingLane) async throws
  /// When the next job of the lane is due, or a lease ends; nil if none is queued.
  func nextDue(lane: String) async throws -> Date?
  /// The user and the device of the job with this number, token and notification; nil if there is none.
  ///
  /// `user` and `registration` are nil for an audience.
  func addressee(
    of job: Int, token: String, notification: Int
  ) async throws -> (user: UserID?, registration: String?)?
  /// The job with this number, whose user exists; nil if there is none that announces a notification.
  func addressee(of job: Int) async throws -> JobAddressee?
  /// The lanes whose names begin with a prefix, such as `webpush:`, and that have queued jobs.
  ///
  /// The cost grows with the lanes, not with the jobs.
  func lanes(beginningWith prefix: String) async throws -> [String]

  /// Fails the queued jobs whose devices were removed, at most 10,000, of lanes whose names begin with a prefix.
  ///
  /// Leasing fails them as well, but a push service may have asked to wait for a day. The cost grows with the jobs.
  func failJobsOfRemovedDevices(inLanesBeginningWith prefix: String) async throws
  /// Sets why the queued jobs of lanes that nobody works off are not sent; of many jobs of a lane, the next ones.
  func explain(_ reason: String, lanes: [String]) async throws

  /// The number of other collapse ids of the lane's earlier jobs to the same device since a time, without
  /// those whose notifications the device has fetched or read.
  func pendingCollapseIDs(before job: Int, since: Date) async throws -> Int

  // MARK: For operators and publishers

  /// Jobs in a state, or in any, newest first, at most `limit`.
  func jobs(in state: JobState?, limit: Int) async throws -> [JobRecord]
  /// The jobs of a notification in a state and a lane, or in any, whose numbers are larger than `after`, oldest
  /// first; at most `limit`.
  ///
  /// The cost does not grow with the jobs.
  func deliveries(
    of notification: Int, in state: JobState?, lane: String?, after: Int, limit: Int
  ) async throws -> [JobRecord]
  /// Queues one dead letter again with no attempts, or all of them, and returns how many; none of what another
  /// notification has taken the place of.
  func replay(_ job: Int?) async throws -> Int
  /// Cancels a job; false if it is not queued any more.
  ///
  /// One that is being sent may still arrive; it is then recorded as sent.
  func cancel(job: Int) async throws -> Bool
  /// The lanes that are paused until an operator has acted, by name.
  func pauses() async throws -> [LanePause]
  /// Ends the pauses of a lane, or of all, and sends again what was refused; returns how many pushes are due again.
  func resume(lane: String?) async throws -> Int
  /// Brings back the registrations that a lane has ended since a time, and returns their number.
  func restoreRegistrations(endedBy lane: String, since: Date) async throws -> Int
}

/// How many jobs ``Outbox/failJobsOfRemovedDevices(inLanesBeginningWith:)`` fails.
let failedJobs = 10_000

/// How many jobs of a lane ``Outbox/explain(_:lanes:)`` explains.
let explainedJobs = 100

/// The most jobs that ``Outbox/replay(_:)`` queues again in one commit, so that others do not wait long for a statement.
let replayedJobs = 10_000

extension Outbox {
  /// All jobs of a notification, oldest first.
  package func deliveries(of notification: Int) async throws -> [JobRecord] {
    try await deliveries(of: notification, in: nil, lane: nil, after: 0, limit: .max)
  }
}
