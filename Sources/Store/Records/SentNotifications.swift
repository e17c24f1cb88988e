package import FoundationEssentials

/// How far a notification has come, in numbers.
package struct NotificationCounts: Sendable, Equatable {
  /// The users who may fetch it.
  package let recipients: Int
  /// Pushes that wait; without a push service, users whom the embedded gateway has not reached.
  package let queued: Int
  /// Pushes that a push service or the embedded gateway has sent.
  package let sent: Int
  /// Pushes that failed or expired.
  package let failed: Int
  /// Users who have fetched it.
  package let fetched: Int
  /// Users who have marked it read.
  package let read: Int
  /// When the first push was sent, or the embedded gateway first reached a user; nil so far.
  package let firstSent: Date?
  /// When a device first fetched it; nil so far.
  package let firstFetched: Date?
  /// When a user first marked it read; nil so far.
  package let firstRead: Date?
  /// Users of whom a device has shown it.
  package var displayed = 0
  /// Users who have opened it.
  package var opened = 0
  /// Users who have dismissed it.
  package var dismissed = 0
  /// Buttons that were pressed.
  package var actions = 0
  /// Replies.
  package var replies = 0
  /// When a device first showed it; nil so far.
  package var firstDisplayed: Date?
  /// When a user first opened it; nil so far.
  package var firstOpened: Date?
}

extension NotificationCounts {
  /// Combines what is counted: users in all and those whom the embedded gateway has reached, and pushes that
  /// wait, were sent and failed, and what devices report; `first` is when.
  init(
    users: (recipients: Int, reached: Int), fetched: Int, read: Int,
    pushes: (waiting: Int, sent: Int, failed: Int),
    reports: (displayed: Int, opened: Int, dismissed: Int),
    first: (sent: Date?, fetched: Date?, read: Date?)
  ) {
    let isEmbedded = pushes.waiting + pushes.sent + pushes.failed == 0
    let arrived = max(users.reached, fetched, reports.displayed, reports.opened)
    queued = isEmbedded ? max(0, users.recipients - arrived) : pushes.waiting
    sent = pushes.sent + users.reached
    (recipients, failed) = (users.recipients, pushes.failed)
    (self.fetched, self.read) = (fetched, read)
    (displayed, opened, dismissed) = reports
    (firstSent, firstFetched, firstRead) = (first.sent, first.fetched, first.read)
  }
}

/// A notification as its sender sees it.
package struct SentNotification: Sendable, Equatable {
  /// The notification.
  package let notification: StoredNotification
  /// The name of its sender; nil for the server and for a removed user.
  package let sender: String?
  /// When it was withdrawn, or nil.
  package let withdrawn: Date?
  /// How far it has come.
  package let counts: NotificationCounts
}

/// Notifications as their senders see them; the cost does not grow with their recipients.
package protocol SentNotifications: Sendable {
  /// The notifications of a sender, or of all, newest first, with IDs below `before`, at most `limit`.
  ///
  /// With an audience, only the notifications that were sent to it. Expired ones are included until they are
  /// removed.
  func sent(
    by sender: UserID?, to audience: [String]?, before: Int?, limit: Int
  ) async throws -> [SentNotification]
  /// How far a notification has come; nil if there is none.
  func counts(of notification: Int) async throws -> NotificationCounts?
  /// What has changed after the event with a sequence number, for a publisher or, with nil, for all.
  func changes(after: Int, for publisher: UserID?) async throws -> NotificationChanges
}

/// What some events are about.
package struct NotificationChanges: Sendable, Equatable {
  /// The sequence number of the last of the events; nil if there is none.
  package let last: Int?
  /// The notifications whose receipts or interactions have changed, and how far they have come.
  package let counts: [Int: NotificationCounts]
  /// The events that are neither.
  package let others: [StoredEvent]
}

extension SentNotifications {
  /// The notifications of a sender, or of all, to any audience.
  package func sent(by sender: UserID?, before: Int?, limit: Int) async throws
    -> [SentNotification]
  {
    try await sent(by: sender, to: nil, before: before, limit: limit)
  }
}
