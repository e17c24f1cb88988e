public import Foundation

/// A notification that is to be created.
public struct NewNotification: Sendable, Equatable, Encodable {
  /// Whom it is for.
  public enum Audience: Sendable, Equatable {
    /// The users with these names.
    case users([String])
    /// Everybody whose tags match an expression such as `news && !muted`.
    case tags(String)
  }

  /// The text shown beside the media.
  public var message: String
  /// The kind of media: `img`, `sound`, `url`, or the name of any plugin of the server's.
  public var richType: String
  /// An asset's name, or literal content such as a link.
  public var payload: String
  /// Whom it is for.
  public var audience: Audience
  /// When its recipients get to know of it; nil for at once.
  public var notBefore: Date?
  /// When its media goes away, if ever.
  public var expires: Date?
  /// A key of the publisher's own: a second request with the same one creates nothing.
  public var idempotencyKey: String?
  /// What the pushes look like that announce it; nil leaves it to the server (`silent`).
  public var form: PushForm?
  /// Whether the push sets the app's icon to the user's unread count (not by `silent`, which may not).
  public var badge = false

  /// A notification for an audience.
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
    case message, richType, payload
    case audience = "to"
    case notBefore, expires, idempotencyKey, form, badge
  }

  /// Writes the JSON form that `POST /api/notifications` takes.
  public func encode(to encoder: any Encoder) throws {
    var members = encoder.container(keyedBy: CodingKeys.self)
    try members.encode(message, forKey: .message)
    try members.encode(richType, forKey: .richType)
    try members.encode(payload, forKey: .payload)
    switch audience {
    case .users(let names): try members.encode(names.map { "username:\($0)" }, forKey: .audience)
    case .tags(let expression): try members.encode(expression, forKey: .audience)
    }
    try members.encodeIfPresent(notBefore, forKey: .notBefore)
    try members.encodeIfPresent(expires, forKey: .expires)
    try members.encodeIfPresent(form, forKey: .form)
    if badge { try members.encode(true, forKey: .badge) }
    try members.encodeIfPresent(idempotencyKey, forKey: .idempotencyKey)
  }
}
