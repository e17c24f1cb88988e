#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A notification as the server returns it to a recipient or to its publisher.
public struct RichNotification: Sendable, Equatable, Identifiable, Codable {
  /// The ID that the push contains; 0 is valid.
  public let id: Int
  /// The text beside the media.
  public let message: String
  /// The kind of media: `img`, `sound`, `url`, or the name of any plugin of the server.
  public let richType: String
  /// An asset's name, or literal content such as a link.
  public let payload: String
  /// The audience, as the publisher wrote it.
  public let to: [String]
  /// Whether this user has marked it as read.
  public let isRead: Bool
  /// When it was created.
  public let created: Date
  /// When it becomes visible to its recipients, or was to; nil if it was immediately.
  @Nullable public var notBefore: Date?
  /// Whether it waits until an admin names another time, because its sender was removed or may not publish any
  /// more; only then.
  public var held: Bool?
  /// When its media is removed, if ever.
  @Nullable public var expires: Date?
  /// The path of its media on the server.
  public let media: String
  /// What the plugin detected: type, width, height, duration, title and more.
  public let details: JSONValue
  /// The numbers of recipients; only in the response to its creation.
  public var reach: Reach?
  /// Who has received it, by user; only in its details.
  ///
  /// A recipient sees its own receipt, its sender and admins the first 100.
  public var receipts: [Receipt]?
  /// The first 100 pushes, by lane and device; only in its details, and only for its sender and admins.
  public var deliveries: [Delivery]?
  /// How far it has come; only in its details, and only for its sender and admins.
  public var counts: DeliveryCounts?
  /// The form of its pushes; only in its details, and only for its sender and admins.
  public var form: PushForm?
  /// Whether its pushes set the app's badge; only in its details, and only for its sender and admins.
  public var badge: Bool?
  /// What has become of it; only in its details, and only for its sender and admins.
  public var state: SentPage.Entry.State?
  /// When it came so far first; only in its details, and only for its sender and admins.
  public var first: FirstTimes?
  /// Its new content, if it was replaced after some had fetched what it had; only in its details, and only for its
  /// sender and admins.
  public var replaced: Replacement?
  /// The paths of its renditions, by profile; only in its details.
  public var renditions: [String: String]?
  /// Links to its renditions that need no password, by profile; only in its details.
  public var links: [String: String]?

  private enum CodingKeys: String, CodingKey {
    case id, message, richType, payload, to
    case isRead = "read"
    case created, notBefore, held, expires, media, details, reach
    case receipts, deliveries, form, badge, counts, state, first, replaced, renditions, links
  }

  /// Creates a notification.
  package init(
    id: Int, message: String, richType: String, payload: String, to: [String], isRead: Bool,
    created: Date, notBefore: Date?, expires: Date?, media: String, details: JSONValue
  ) {
    (self.id, self.message, self.richType, self.payload) = (id, message, richType, payload)
    (self.to, self.isRead, self.created) = (to, isRead, created)
    (self.notBefore, self.expires) = (notBefore, expires)
    (self.media, self.details) = (media, details)
  }

  /// The numbers of a notification's recipients.
  public struct Reach: Sendable, Equatable, Codable {
    /// The users who may fetch it.
    public let users: Int
    /// Their registered devices.
    public let devices: Int
    /// Names in the audience that no user has; they receive nothing, except in a demonstration.
    public let unknown: [String]?
    /// Those of the devices that no push service of the server sends to.
    public let devicesWithoutLane: Int

    /// Creates the numbers.
    package init(users: Int, devices: Int, unknown: [String], devicesWithoutLane: Int) {
      (self.users, self.devices, self.unknown) = (users, devices, unknown)
      self.devicesWithoutLane = devicesWithoutLane
    }
  }
}

extension RichNotification {
  /// New content of a notification that some have fetched: the file that it was made of was not complete.
  public struct Replacement: Sendable, Equatable, Codable {
    /// When it was replaced last.
    public let time: Date
    /// The number of users who had fetched what it had before.
    public let count: Int
    /// The first 100 of them.
    public let users: [String]

    /// Describes a replacement.
    package init(time: Date, count: Int, users: [String]) {
      (self.time, self.count, self.users) = (time, count, users)
    }
  }
}

/// One page of a user's notifications.
public struct Inbox: Sendable, Equatable, Codable {
  /// The notifications, newest first.
  public let notifications: [RichNotification]
  /// The number of unread notifications on all pages.
  public let unread: Int?
  /// The next page, as a path on the server; nil on the last one.
  @Nullable public var next: String?

  /// Creates a page.
  package init(notifications: [RichNotification], unread: Int, next: String?) {
    (self.notifications, self.unread) = (notifications, unread)
    self.next = next
  }
}
