#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A notification as the server returns it to a recipient or to its publisher.
public struct RichNotification: Sendable, Equatable, Identifiable {
  /// The ID that the push contains; 0 is valid.
  public let id: Int
  /// What it says.
  public let message: NotificationMessage
  /// The kind of media: `img`, `sound`, `url`, or the name of any plugin of the server; nil if it has none.
  public let richType: String?
  /// The media: an asset's name, or literal content such as a link; nil if it has none.
  public let payload: String?
  /// The audience, as the publisher wrote it.
  public let to: [String]
  /// Whether this user has marked it as read.
  public let isRead: Bool
  /// When it was created.
  public let created: Date
  /// When it becomes visible to its recipients, or was to; nil if it was immediately.
  public var notBefore: Date?
  /// The time by the clock of each recipient, if it has one; ``notBefore`` is the first for its sender, and a
  /// recipient's own for the recipient.
  public var localTime: LocalTime?
  /// The most devices that it is pushed to in a minute, if that was said.
  public var perMinute: Int?
  /// Whether it waits until an admin names another time, because its sender was removed or may not publish any
  /// more, or until another publisher approves it; only then.
  public var held: Bool?
  /// The approval of another publisher, if it needs one and its sender, an admin or who may approve it asks.
  public var approval: Approval?
  /// When its media is removed, if ever.
  public var expires: Date?
  /// The later notification that has taken its place in the inbox; nil if there is none.
  public var replacedBy: Int?
  /// The path of its media on the server, or of its text if it has no media.
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
  /// The first 100 buttons that recipients pressed, and replies; only in its details, and only for its sender and
  /// admins.
  public var interactions: [RecordedInteraction]?
  /// How far it has come; only in its details, and only for its sender and admins.
  public var counts: DeliveryCounts?
  /// The form of its pushes; only in its details, and only for its sender and admins.
  public var form: PushForm?
  /// Whether its pushes set the app's badge; only in its details, and only for its sender and admins.
  public var badge: Bool?
  /// What each platform makes of its members; only in its details, and only for its sender and admins.
  public var platforms: [PlatformMembers]?
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

  /// Creates a notification.
  package init(
    id: Int, message: NotificationMessage, richType: String?, payload: String?, to: [String],
    isRead: Bool,
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
    /// The users who were left out, because they have no value for a placeholder.
    public var skipped: Int?

    /// Creates the numbers.
    package init(users: Int, devices: Int, unknown: [String], devicesWithoutLane: Int) {
      (self.users, self.devices, self.unknown) = (users, devices, unknown)
      self.devicesWithoutLane = devicesWithoutLane
    }
  }
}

extension RichNotification: Codable {
  private enum CodingKeys: String, CodingKey {
    case id, message, richType, payload, to
    case isRead = "read"
    case created, notBefore, localTime, perMinute, held, approval, expires, replacedBy, media
    case details, reach
    case receipts, deliveries, interactions, form, badge, platforms, counts, state, first
    case replaced, renditions, links
  }

  /// Decodes a notification.
  public init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: CodingKeys.self)
    id = try members.decode(Int.self, forKey: .id)
    message = try NotificationMessage(from: decoder)
    richType = try members.decodeIfPresent(String.self, forKey: .richType)
    payload = try members.decodeIfPresent(String.self, forKey: .payload)
    to = try members.decode([String].self, forKey: .to)
    isRead = try members.decode(Bool.self, forKey: .isRead)
    created = try members.decode(Date.self, forKey: .created)
    notBefore = try members.decodeIfPresent(Date.self, forKey: .notBefore)
    expires = try members.decodeIfPresent(Date.self, forKey: .expires)
    localTime = try members.decodeIfPresent(forKey: .localTime)
    perMinute = try members.decodeIfPresent(forKey: .perMinute)
    media = try members.decode(String.self, forKey: .media)
    details = try members.decode(JSONValue.self, forKey: .details)
    held = try members.decodeIfPresent(forKey: .held)
    approval = try members.decodeIfPresent(forKey: .approval)
    replacedBy = try members.decodeIfPresent(forKey: .replacedBy)
    reach = try members.decodeIfPresent(forKey: .reach)
    receipts = try members.decodeIfPresent(forKey: .receipts)
    deliveries = try members.decodeIfPresent(forKey: .deliveries)
    interactions = try members.decodeIfPresent(forKey: .interactions)
    counts = try members.decodeIfPresent(forKey: .counts)
    form = try members.decodeIfPresent(forKey: .form)
    badge = try members.decodeIfPresent(forKey: .badge)
    platforms = try members.decodeIfPresent(forKey: .platforms)
    state = try members.decodeIfPresent(forKey: .state)
    first = try members.decodeIfPresent(forKey: .first)
    replaced = try members.decodeIfPresent(forKey: .replaced)
    renditions = try members.decodeIfPresent(forKey: .renditions)
    links = try members.decodeIfPresent(forKey: .links)
  }

  /// Encodes what it has; `message`, `notBefore` and `expires` are always there.
  public func encode(to encoder: any Encoder) throws {
    try message.encode(to: encoder)
    var members = encoder.container(keyedBy: CodingKeys.self)
    try members.encode(id, forKey: .id)
    try members.encode(message.text, forKey: .message)
    try members.encodeIfPresent(richType, forKey: .richType)
    try members.encodeIfPresent(payload, forKey: .payload)
    try members.encode(to, forKey: .to)
    try members.encode(isRead, forKey: .isRead)
    try members.encode(created, forKey: .created)
    try members.encode(notBefore, forKey: .notBefore)
    try members.encodeIfPresent(localTime, forKey: .localTime)
    try members.encodeIfPresent(perMinute, forKey: .perMinute)
    try members.encode(expires, forKey: .expires)
    try members.encode(media, forKey: .media)
    try members.encode(details, forKey: .details)
    try members.encodeIfPresent(held, forKey: .held)
    try members.encodeIfPresent(approval, forKey: .approval)
    try members.encodeIfPresent(replacedBy, forKey: .replacedBy)
    try members.encodeIfPresent(reach, forKey: .reach)
    try members.encodeIfPresent(receipts, forKey: .receipts)
    try members.encodeIfPresent(deliveries, forKey: .deliveries)
    try members.encodeIfPresent(interactions, forKey: .interactions)
    try members.encodeIfPresent(counts, forKey: .counts)
    try members.encodeIfPresent(form, forKey: .form)
    try members.encodeIfPresent(badge, forKey: .badge)
    try members.encodeIfPresent(platforms, forKey: .platforms)
    try members.encodeIfPresent(state, forKey: .state)
    try members.encodeIfPresent(first, forKey: .first)
    try members.encodeIfPresent(replaced, forKey: .replaced)
    try members.encodeIfPresent(renditions, forKey: .renditions)
    try members.encodeIfPresent(links, forKey: .links)
  }
}

extension KeyedDecodingContainer {
  /// Decodes a member of the type that is assigned, if it is there.
  fileprivate func decodeIfPresent<Value: Decodable>(forKey key: Key) throws -> Value? {
    try decodeIfPresent(Value.self, forKey: key)
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
