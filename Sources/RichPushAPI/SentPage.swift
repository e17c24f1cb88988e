#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// How far a notification has come, in numbers.
package struct DeliveryCounts: Sendable, Equatable, Codable {
  /// The users who may fetch it.
  package let recipients: Int
  /// Pushes that wait; without a push service, users whom the embedded gateway has not reached.
  package let queued: Int
  /// Pushes that were sent.
  package let sent: Int
  /// Pushes that failed or expired.
  package let failed: Int
  /// Users who have fetched it.
  package let fetched: Int
  /// Users who have marked it read.
  package let read: Int

  /// Creates the numbers.
  package init(recipients: Int, queued: Int, sent: Int, failed: Int, fetched: Int, read: Int) {
    (self.recipients, self.queued, self.sent) = (recipients, queued, sent)
    (self.failed, self.fetched, self.read) = (failed, fetched, read)
  }
}

/// A page of the notifications that a publisher has sent: the response of `GET /api/notifications?sent`.
package struct SentPage: Sendable, Equatable, Codable {
  /// The notifications, newest first.
  package let notifications: [Entry]
  /// The ID that `before` has on the next page; nil on the last one.
  @Nullable package var next: Int?

  /// Creates a page.
  package init(notifications: [Entry], next: Int?) {
    self.notifications = notifications
    self.next = next
  }

  /// A notification as its sender sees it.
  package struct Entry: Sendable, Equatable, Codable {
    /// What has become of a notification.
    package enum State: String, Sendable, Codable {
      case scheduled, sent, withdrawn, expired
    }

    /// Its ID.
    package let id: Int
    /// The text beside the media.
    package let message: String
    /// The kind of media.
    package let richType: String
    /// An asset's name, or literal content.
    package let payload: String
    /// When it was created.
    package let created: Date
    /// Its sender; nil for the server and for a removed user.
    @Nullable package var sender: String?
    /// The audience, as the sender wrote it.
    package let audience: [String]
    /// What has become of it.
    package let state: State
    /// When it becomes visible; nil if it was at once.
    @Nullable package var notBefore: Date?
    /// When it ends, or ended; nil for never.
    @Nullable package var expires: Date?
    /// How far it has come.
    package let counts: DeliveryCounts

    /// Describes a notification; the optional members can be set afterwards.
    package init(
      id: Int, message: String, richType: String, payload: String, created: Date,
      audience: [String], state: State, counts: DeliveryCounts
    ) {
      (self.id, self.message, self.richType, self.payload) = (id, message, richType, payload)
      (self.created, self.audience) = (created, audience)
      (self.state, self.counts) = (state, counts)
    }
  }
}

/// The numbers of users and devices in an audience: the response of `GET /api/audience`.
package struct AudienceSize: Sendable, Equatable, Codable {
  /// The users.
  package let users: Int
  /// Their devices, by platform.
  package let devices: [String: Int]
  /// Names in the audience that no user has.
  package let unknown: [String]

  /// Creates the numbers.
  package init(users: Int, devices: [String: Int], unknown: [String]) {
    (self.users, self.devices, self.unknown) = (users, devices, unknown)
  }
}
