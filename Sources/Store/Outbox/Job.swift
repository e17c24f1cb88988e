package import FoundationEssentials

/// How far a push to one device has come.
package enum JobState: String, Sendable, CaseIterable, Column {
  /// Waits for its time, or is being sent.
  case queued
  /// The push service has taken it.
  case sent
  /// A dead letter: it is tried again only when somebody says so.
  case failed
  /// Its time was over before it could be sent.
  case expired
  /// Somebody called it off.
  case cancelled
}

/// A job as a lane gets it, leased until the moment the lane named.
package struct LeasedJob: Sendable, Equatable {
  /// Whom the push is for.
  package enum Target: Sendable, Equatable {
    /// A device by its push token and platform.
    case device(handle: String, platform: String)
    /// A tag expression for the push service to resolve.
    case audience(String)
  }

  /// The job's number; jobs rise in the order of their commits.
  package let id: Int
  /// A lower-case UUID, the same at every attempt.
  package let token: String
  /// The notification it announces, or nil.
  package let notificationID: Int?
  /// The user whose device it is, or nil for an audience.
  package let user: UserID?
  /// Whom the push is for.
  package let target: Target
  /// The kind of push the text is.
  package let kind: String
  /// The text to send.
  package let text: String
  /// The alert that may be sent instead, or nil.
  package let fallback: String?
  /// What later pushes replace it, or nil.
  package let collapseID: String?
  /// When nobody wants to see it any more, or nil.
  package let expires: Date?
  /// How often it was tried before.
  package let attempts: Int
  /// When background pushes were sent to the same device (or audience) within the last hour, the
  /// newest first.
  package let recentWakes: [Date]
}

/// What became of a leased job.
package enum JobOutcome: Sendable, Equatable {
  /// The push service took it as this kind of push, under its own reference.
  case delivered(as: String, reference: String?, note: String?)
  /// Tried in vain; it is due again then.
  case retry(at: Date, reason: String)
  /// Not tried; it is due again then.
  case released(until: Date, reason: String)
  /// Failed for ever, and the registration goes unless it was renewed after that time.
  ///
  /// Without a time, unless it was renewed after the job was leased.
  case deadToken(since: Date?, reason: String)
  /// Failed for ever.
  case rejected(reason: String)
  /// Its time was over before it could be sent.
  case expired
}

/// A job as people look at it: the receipt of one device.
package struct Delivery: Sendable, Equatable {
  /// The job's number.
  package let job: Int
  /// The notification it announces, or nil.
  package let notificationID: Int?
  /// The lane that sends it.
  package let lane: String
  /// The name of the user whose device it is, or nil for an audience and for one who was removed.
  package let user: String?
  /// The id of the device's registration, or nil for an audience.
  package let registration: String?
  /// How far it has come.
  package let state: JobState
  /// How often it was tried.
  package let attempts: Int
  /// When it is due, or its lease ends, while it is queued.
  package let due: Date
  /// When its state was last written.
  package let updated: Date
  /// What the push service calls it, once it has been sent.
  package let reference: String?
  /// Why it is where it is, or nil when there is nothing to say.
  package let reason: String?
}
