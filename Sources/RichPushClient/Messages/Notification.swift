public import Foundation

/// What the push that announces a notification looks like.
public enum PushForm: String, Sendable, Codable, CaseIterable {
  /// It wakes the app in the background and shows nothing.
  case silent
  /// It shows the message; a notification service extension adds the media.
  case alert
  /// Both, for old and new apps.
  case hybrid
  /// The exact text of the Azure "Rich Push" tutorial.
  case legacy
}

/// A notification to be created.
public struct NewNotification: Sendable, Equatable, Encodable {
  /// The recipients.
  public enum Audience: Sendable, Equatable {
    /// The users with these names.
    case users([String])
    /// All users whose tags match an expression such as `news && !muted`.
    case tags(String)
  }

  /// The text beside the media.
  public var message: String
  /// The kind of media: `img`, `sound`, `url`, or the name of any plugin of the server.
  public var richType: String
  /// An asset's name, or literal content such as a link.
  public var payload: String
  /// The recipients.
  public var audience: Audience
  /// When it becomes visible to its recipients and is pushed; nil for immediately.
  public var notBefore: Date?
  /// When its media is removed, if ever.
  public var expires: Date?
  /// A key chosen by the publisher: a second request with the same key creates nothing.
  public var idempotencyKey: String?
  /// What the pushes look like; nil for the server's default (`silent`).
  public var form: PushForm?
  /// Whether the push sets the app's badge to the number of unread notifications; not possible with `silent`.
  public var badge = false

  /// Creates a notification.
  public init(
    _ message: String, richType: String, payload: String, to audience: Audience,
    expires: Date? = nil, idempotencyKey: String? = nil
  ) {
    self.message = message
    self.richType = richType
    self.payload = payload
    self.audience = audience
    self.expires = expires
    self.idempotencyKey = idempotencyKey
  }

  private enum CodingKeys: String, CodingKey {
    case message, richType, payload, to, notBefore, expires, idempotencyKey, form, badge
  }

  /// Encodes the body of `POST /api/notifications`.
  public func encode(to encoder: any Encoder) throws {
    var members = encoder.container(keyedBy: CodingKeys.self)
    try members.encode(message, forKey: .message)
    try members.encode(richType, forKey: .richType)
    try members.encode(payload, forKey: .payload)
    switch audience {
    case .users(let names): try members.encode(names.map { "username:\($0)" }, forKey: .to)
    case .tags(let expression): try members.encode(expression, forKey: .to)
    }
    try members.encodeIfPresent(notBefore, forKey: .notBefore)
    try members.encodeIfPresent(expires, forKey: .expires)
    try members.encodeIfPresent(form, forKey: .form)
    if badge { try members.encode(true, forKey: .badge) }
    try members.encodeIfPresent(idempotencyKey, forKey: .idempotencyKey)
  }
}

/// Changes to a notification that no device has fetched yet; nil leaves a member unchanged.
public struct Amendment: Sendable, Equatable, Encodable {
  /// The text beside the media.
  public var message: String?
  /// The kind of media.
  public var richType: String?
  /// An asset's name, or literal content such as a link.
  public var payload: String?
  /// When it becomes visible to its recipients; only if it is not visible yet.
  public var notBefore: Date?
  /// When its media is removed.
  public var expires: Date?

  /// Creates an amendment.
  public init(
    message: String? = nil, richType: String? = nil, payload: String? = nil,
    notBefore: Date? = nil, expires: Date? = nil
  ) {
    self.message = message
    self.richType = richType
    self.payload = payload
    self.notBefore = notBefore
    self.expires = expires
  }
}

/// A notification as the server returns it to a recipient or to its publisher.
public struct RichNotification: Sendable, Equatable, Identifiable, Decodable {
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
  public let notBefore: Date?
  /// When its media is removed, if ever.
  public let expires: Date?
  /// The path of its media on the server.
  public let media: String
  /// What the plugin detected: type, width, height, duration, title and more.
  public let details: JSONValue
  /// The numbers of recipients; only in the response to its creation.
  public let reach: Reach?

  /// The numbers of a notification's recipients.
  public struct Reach: Sendable, Equatable, Decodable {
    /// The users who may fetch it.
    public let users: Int
    /// Their registered devices.
    public let devices: Int
    /// Names in the audience that no user has; they receive nothing, except in a demonstration.
    public let unknown: [String]?
    /// Those of the devices that no push service of the server sends to.
    public let devicesWithoutLane: Int
  }

  private enum CodingKeys: String, CodingKey {
    case id, message, richType, payload, to
    case isRead = "read"
    case created, notBefore, expires, media, details, reach
  }
}

/// One page of a user's notifications.
public struct Inbox: Sendable, Decodable {
  /// The notifications, newest first.
  public let notifications: [RichNotification]
  /// The number of unread notifications on all pages.
  public let unread: Int?
  /// The next page, as a path on the server; nil on the last one.
  public let next: String?
}
