#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// How far a notification has come, in numbers.
public struct DeliveryCounts: Sendable, Equatable, Codable {
  /// The users who may fetch it.
  public let recipients: Int
  /// Pushes that wait; without a push service, users whom the embedded gateway has not reached.
  public let queued: Int
  /// Pushes that were sent.
  public let sent: Int
  /// Pushes that failed or expired.
  public let failed: Int
  /// Users who have fetched it.
  public let fetched: Int
  /// Users who have marked it read.
  public let read: Int
  /// Users of whom a device has shown it.
  public var displayed = 0
  /// Users who have opened it.
  public var opened = 0
  /// Users who have dismissed it.
  public var dismissed = 0
  /// Buttons that were pressed.
  public var actions = 0
  /// Replies.
  public var replies = 0

  /// Creates the numbers; those of what users did with it can be set afterwards.
  package init(recipients: Int, queued: Int, sent: Int, failed: Int, fetched: Int, read: Int) {
    (self.recipients, self.queued, self.sent) = (recipients, queued, sent)
    (self.failed, self.fetched, self.read) = (failed, fetched, read)
  }
}

/// A page of the notifications that a publisher has sent: the response of `GET /api/notifications?sent`.
public struct SentPage: Sendable, Equatable, Codable {
  /// The notifications, newest first.
  public let notifications: [Entry]
  /// The ID that `before` has on the next page; nil on the last one.
  ///
  /// With a search, a page that has one may have few notifications, or none.
  @Nullable public var next: Int?

  /// Creates a page.
  package init(notifications: [Entry], next: Int?) {
    self.notifications = notifications
    self.next = next
  }

  /// A notification as its sender sees it.
  public struct Entry: Sendable, Equatable {
    /// What has become of a notification.
    public enum State: String, Sendable, Codable {
      /// Its time has not come.
      case scheduled
      /// Its time had not come when its sender was removed or lost the right to publish; an admin can name
      /// another time or withdraw it. Or it awaits approval (``SentPage/Entry/approval``).
      case held
      /// Its recipients can fetch it.
      case sent
      /// Its sender has withdrawn it.
      case withdrawn
      /// Its time is over.
      case expired
    }

    /// Its ID.
    public let id: Int
    /// What it says.
    public let message: NotificationMessage
    /// The kind of media; nil if it has none.
    public let richType: String?
    /// The media: an asset's name, or literal content; nil if it has none.
    public let payload: String?
    /// When it was created.
    public let created: Date
    /// Its sender; nil for the server and for a removed user.
    public var sender: String?
    /// The audience, as the sender wrote it.
    public let audience: [String]
    /// What has become of it.
    public let state: State
    /// When it becomes visible, or was to; nil if it was at once.
    public var notBefore: Date?
    /// The time by the clock of each recipient, of which ``notBefore`` is the first, if it has one.
    public var localTime: LocalTime?
    /// When it ends, or ended; nil for never.
    public var expires: Date?
    /// How far it has come.
    public let counts: DeliveryCounts
    /// The approval that it awaits; nil if it awaits none.
    public var approval: Approval?

    /// Describes a notification; the optional members can be set afterwards.
    package init(
      id: Int, message: NotificationMessage, richType: String?, payload: String?, created: Date,
      audience: [String], state: State, counts: DeliveryCounts
    ) {
      (self.id, self.message, self.richType, self.payload) = (id, message, richType, payload)
      (self.created, self.audience) = (created, audience)
      (self.state, self.counts) = (state, counts)
    }
  }
}

extension SentPage.Entry: Codable {
  private enum CodingKeys: String, CodingKey {
    case id, message, richType, payload, created, sender, audience, state, notBefore,
      localTime, expires, counts, approval
  }

  /// Decodes an entry.
  public init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: CodingKeys.self)
    id = try members.decode(Int.self, forKey: .id)
    message = try NotificationMessage(from: decoder)
    richType = try members.decodeIfPresent(String.self, forKey: .richType)
    payload = try members.decodeIfPresent(String.self, forKey: .payload)
    created = try members.decode(Date.self, forKey: .created)
    sender = try members.decodeIfPresent(String.self, forKey: .sender)
    audience = try members.decode([String].self, forKey: .audience)
    state = try members.decode(State.self, forKey: .state)
    notBefore = try members.decodeIfPresent(Date.self, forKey: .notBefore)
    localTime = try members.decodeIfPresent(LocalTime.self, forKey: .localTime)
    expires = try members.decodeIfPresent(Date.self, forKey: .expires)
    counts = try members.decode(DeliveryCounts.self, forKey: .counts)
    approval = try members.decodeIfPresent(Approval.self, forKey: .approval)
  }

  /// Encodes what it has; `message`, `sender`, `notBefore` and `expires` are always there.
  public func encode(to encoder: any Encoder) throws {
    try message.encode(to: encoder)
    var members = encoder.container(keyedBy: CodingKeys.self)
    try members.encode(id, forKey: .id)
    try members.encode(message.text, forKey: .message)
    try members.encodeIfPresent(richType, forKey: .richType)
    try members.encodeIfPresent(payload, forKey: .payload)
    try members.encode(created, forKey: .created)
    try members.encode(sender, forKey: .sender)
    try members.encode(audience, forKey: .audience)
    try members.encode(state, forKey: .state)
    try members.encode(notBefore, forKey: .notBefore)
    try members.encodeIfPresent(localTime, forKey: .localTime)
    try members.encode(expires, forKey: .expires)
    try members.encode(counts, forKey: .counts)
    try members.encodeIfPresent(approval, forKey: .approval)
  }
}

/// The numbers of users and devices in an audience: the response of `GET /api/audience`.
public struct AudienceSize: Sendable, Equatable, Codable {
  /// The users.
  public let users: Int
  /// Their devices, by platform.
  public let devices: [String: Int]
  /// Names in the audience that no user has.
  public let unknown: [String]
  /// Whether a notification for all of these needs another publisher's approval; only then.
  public var needsApproval: Bool?
  /// The hours in which the server sends no push that is not urgent, by the clock of each device; nil if there are none.
  public var quietHours: QuietHours?

  /// Creates the numbers.
  package init(users: Int, devices: [String: Int], unknown: [String]) {
    (self.users, self.devices, self.unknown) = (users, devices, unknown)
  }
}

/// Names for completing an audience: the response of `GET /api/audience/names`.
public struct AudienceNames: Sendable, Equatable, Codable {
  /// Users.
  public let users: [String]
  /// Tags of devices.
  public let tags: [String]

  /// Creates the names.
  package init(users: [String], tags: [String]) {
    (self.users, self.tags) = (users, tags)
  }
}
