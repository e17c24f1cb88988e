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
  /// When it becomes visible to its recipients; nil if it was immediately.
  @Nullable public var notBefore: Date?
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
  /// A recipient sees its own receipt.
  public var receipts: [Receipt]?
  /// The pushes, by lane and device; only in its details, and only for its sender and admins.
  public var deliveries: [Delivery]?
  /// How far it has come; only in its details, and only for its sender and admins.
  package var counts: DeliveryCounts?
  /// The paths of its renditions, by profile; only in its details.
  public var renditions: [String: String]?
  /// Links to its renditions that need no password, by profile; only in its details.
  public var links: [String: String]?

  private enum CodingKeys: String, CodingKey {
    case id, message, richType, payload, to
    case isRead = "read"
    case created, notBefore, expires, media, details, reach
    case receipts, deliveries, counts, renditions, links
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

  /// How far a notification has come with one user.
  public struct Receipt: Sendable, Equatable, Codable {
    /// The user; nil if it was removed.
    @Nullable public var user: String?
    /// `queued`, `sent`, `fetched` or `read`.
    public let state: String
    /// When it was first sent to a device of the user.
    @Nullable public var sent: Date?
    /// When a device of the user first fetched its media.
    @Nullable public var fetched: Date?
    /// When the user marked it as read.
    @Nullable public var read: Date?
    /// The devices that identify themselves (`RichPushClient.device`).
    public let devices: [Device]

    /// How far it has come on one device.
    public struct Device: Sendable, Equatable, Codable {
      /// The ID of the device's registration.
      public let registration: String
      /// `sent`, `fetched` or `read`.
      public let state: String
      /// When the device first fetched the media.
      @Nullable public var fetched: Date?
      /// When the user marked it as read there.
      @Nullable public var read: Date?

      /// Creates a receipt.
      package init(registration: String, state: String, fetched: Date?, read: Date?) {
        (self.registration, self.state) = (registration, state)
        (self.fetched, self.read) = (fetched, read)
      }
    }

    /// Creates a receipt.
    package init(
      user: String?, state: String, sent: Date?, fetched: Date?, read: Date?, devices: [Device]
    ) {
      self.user = user
      (self.state, self.devices) = (state, devices)
      (self.sent, self.fetched, self.read) = (sent, fetched, read)
    }
  }

  /// A push through the outbox, to one device or to an audience of a push service.
  public struct Delivery: Sendable, Equatable, Codable {
    /// The job's number.
    public let job: Int
    /// The lane that sends it.
    public let lane: String
    /// The user; nil for an audience and for a removed user.
    @Nullable public var user: String?
    /// The ID of the device's registration; nil for an audience.
    @Nullable public var registration: String?
    /// `queued`, `sent`, `fetched`, `read`, `failed`, `expired` or `cancelled`.
    public let state: String
    /// The number of attempts.
    public let attempts: Int
    /// When the state last changed.
    public let updated: Date
    /// The push service's reference, once it has been sent.
    @Nullable public var reference: String?
    /// Why it is in this state.
    @Nullable public var reason: String?

    /// Creates a delivery.
    package init(
      job: Int, lane: String, user: String?, registration: String?, state: String, attempts: Int,
      updated: Date, reference: String?, reason: String?
    ) {
      (self.job, self.lane, self.state, self.attempts) = (job, lane, state, attempts)
      self.updated = updated
      (self.user, self.registration, self.reference) = (user, registration, reference)
      self.reason = reason
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
