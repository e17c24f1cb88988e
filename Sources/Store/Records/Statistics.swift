package import FoundationEssentials

/// What can happen to a notification with one of its recipients.
package enum CourseStep: String, Sendable, CaseIterable {
  /// It was sent to a device, or something came back from one.
  case sent
  /// A device has shown it.
  case displayed
  /// A device has fetched its content.
  case fetched
  /// It was opened by a tap.
  case opened
  /// It was marked read.
  case read
  /// It was dismissed.
  case dismissed
  /// A button was pressed.
  case actions
  /// A reply came.
  case replies
}

/// How far a notification has come with some recipients, each of whom counts once.
package struct RecipientFunnel: Sendable, Equatable {
  /// All of them: those to whom it was sent, who wait for it, and whom it does not reach.
  package var recipients = 0
  /// Those to whom it is still to be sent.
  package var waiting = 0
  /// Those to whom nothing was sent and nothing will be.
  package var unreachable = 0
  /// Those to whom it was sent, and of them those of whom something came back.
  package var steps: [CourseStep: Int] = [:]

  /// Nobody.
  package init() {}

  /// The number of recipients of a step.
  package subscript(step: CourseStep) -> Int { steps[step] ?? 0 }
}

/// Why a notification does not reach some of its recipients.
package struct UnreachedRecipients: Sendable, Hashable {
  /// The kinds of reasons.
  package enum Cause: String, Sendable {
    /// No device is registered.
    case noDevice
    /// No push service sends to the platforms of the devices.
    case noService
    /// A push service refused the push, or it could not be sent for another reason.
    case failed
    /// Its time was over before the push could be sent.
    case expired
    /// The push was cancelled.
    case cancelled
    /// The notification ended before it had come so far.
    case ended
  }

  /// The kind of reason.
  package let cause: Cause
  /// What is known beyond that: what the push service said, the platforms, or why it was cancelled; nil if nothing is,
  /// and for the rest of many reasons.
  package let reason: String?
}

/// Recipients who have something in common.
package struct RecipientGroup: Sendable, Equatable {
  /// What they have in common; empty if it is that they have none of it.
  package let names: [String]
  /// How far it has come with them.
  package let funnel: RecipientFunnel
}

/// What became of a notification: with whom, when, and why not.
package struct CountedNotification: Sendable, Equatable {
  /// How far it has come with its recipients.
  package var funnel: RecipientFunnel
  /// The recipients whom it does not reach by reason, most first.
  package var unreachable: [(why: UnreachedRecipients, users: Int)]
  /// The recipients by the platforms of their devices, most first.
  package var platforms: [RecipientGroup]
  /// The recipients by the language of their devices, most first.
  package var languages: [RecipientGroup]
  /// How often each step was reached first, over time.
  package var course: Course

  package static func == (one: Self, other: Self) -> Bool {
    one.funnel == other.funnel && one.platforms == other.platforms
      && one.languages == other.languages && one.course == other.course
      && one.unreachable.map(\.why) == other.unreachable.map(\.why)
      && one.unreachable.map(\.users) == other.unreachable.map(\.users)
  }
}

/// What was sent in a period, and what became of it.
package struct PeriodCounts: Sendable, Equatable {
  /// The notifications, without those that ended before their time came.
  package var notifications = 0
  /// Those of them that were withdrawn.
  package var withdrawn = 0
  /// Their recipients.
  package var recipients = 0
  /// Pushes that were sent.
  package var sent = 0
  /// Pushes that failed or expired.
  package var failed = 0
  /// What came back, as in ``NotificationCounts``.
  package var steps: [CourseStep: Int] = [:]

  /// No notification.
  package init() {}
}

/// What became of notifications, in numbers that are counted when they are asked for.
package protocol Statistics: Sendable {
  /// What became of a notification that was sent at `start`.
  ///
  /// No push service sends to the platforms `unserved`. Of one that has ended (`hasEnded`) nobody waits. It reads all
  /// recipients and pushes, a part at a time: what changes meanwhile may be counted as it was or as it is. With
  /// `users` only those of its recipients count.
  func statistics(
    of notification: Int, since start: Date, hasEnded: Bool, unserved: Set<String>,
    among users: Set<UserID>?
  ) async throws -> CountedNotification
  /// What a sender, or everybody, has sent in each of some periods, which follow each other and end before the next one
  /// of `starts`; a notification belongs to the period in which its time came.
  func counts(by sender: UserID?, in starts: [Date], until end: Date) async throws
    -> [PeriodCounts]
}
