#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

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

  /// Decodes a form.
  public init(from decoder: any Decoder) throws {
    let name = try decoder.singleValueContainer().decode(String.self)
    guard let form = Self(rawValue: name) else {
      let names = Self.allCases.map(\.rawValue).joined(separator: ", ")
      throw ServiceError(.invalidRequest, "form is one of \(names), not \(name.quoted).")
    }
    self = form
  }
}

/// A notification to be created: the body of `POST /api/notifications`.
public struct NewNotification: Sendable, Equatable, Codable {
  /// The text beside the media.
  public var message: String
  /// The kind of media: `img`, `sound`, `url`, or the name of any plugin of the server.
  public var richType: String
  /// An asset's name, or literal content such as a link.
  @Payload public var payload: String
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
  public var badge: Bool?

  /// Creates a notification.
  ///
  /// ```swift
  /// let new = NewNotification(
  ///   "Look at this", richType: "img", payload: "beach.jpg", to: .users(["alice"]))
  /// ```
  public init(
    _ message: String, richType: String, payload: String, to audience: Audience,
    expires: Date? = nil, idempotencyKey: String? = nil
  ) {
    (self.message, self.richType, self.payload) = (message, richType, payload)
    (self.audience, self.expires, self.idempotencyKey) = (audience, expires, idempotencyKey)
  }

  private enum CodingKeys: String, CodingKey, CaseIterable {
    case message, richType, payload
    case audience = "to"
    case notBefore, expires, form, badge, idempotencyKey
  }
}

/// Changes to a notification that no device has fetched yet: the body of `PATCH /api/notifications/<id>`, a JSON
/// merge patch (RFC 7396).
public struct Amendment: Sendable, Equatable, Codable {
  /// The text beside the media.
  public var message: Change<String>
  /// The kind of media.
  public var richType: Change<String>
  /// An asset's name, or literal content such as a link.
  public var payload: Change<Payload>
  /// When it becomes visible to its recipients; only if it is not visible yet.
  public var notBefore: Change<Date>
  /// When its media is removed.
  public var expires: Change<Date>
  /// What the pushes look like.
  public var form = Change<PushForm>.none
  /// Whether the push sets the app's badge.
  public var badge = Change<Bool>.none

  /// Creates an amendment; nil leaves a member unchanged.
  ///
  /// ```swift
  /// var amendment = Amendment(message: "Look at that")
  /// amendment.expires = .removal
  /// ```
  public init(
    message: String? = nil, richType: String? = nil, payload: String? = nil,
    notBefore: Date? = nil, expires: Date? = nil
  ) {
    (self.message, self.richType) = (Change(message), Change(richType))
    self.payload = Change(payload.map { Payload(wrappedValue: $0) })
    (self.notBefore, self.expires) = (Change(notBefore), Change(expires))
  }
}

/// The change of one member.
public enum Change<Value: Codable & Sendable & Equatable>: Sendable, Equatable, Codable {
  /// The member keeps its value.
  case none
  /// The member has no value any more.
  case removal
  /// The member gets a new value.
  case value(Value)

  /// A change to a value; none for nil.
  public init(_ value: Value?) { self = value.map(Change.value) ?? .none }

  /// Decodes a new value, or `null` for a removal.
  public init(from decoder: any Decoder) throws {
    self = try decoder.singleValueContainer().decode(Value?.self).map(Change.value) ?? .removal
  }

  /// Encodes the new value, or `null`.
  public func encode(to encoder: any Encoder) throws {
    var member = encoder.singleValueContainer()
    try member.encode(applied(to: nil))
  }
}

extension Change {
  /// The new value of a member; nil after its removal.
  package func applied(to old: Value?) -> Value? {
    switch self {
    case .none: old
    case .removal: nil
    case .value(let value): value
    }
  }
}

/// Literal content or an asset's name; a publisher may also send a JSON object, whose text it is then.
@propertyWrapper public struct Payload: Sendable, Equatable, Codable {
  /// The text.
  public var wrappedValue: String

  /// A payload with this text.
  public init(wrappedValue: String) { self.wrappedValue = wrappedValue }

  /// Decodes a string or an object.
  public init(from decoder: any Decoder) throws {
    if let text = try? decoder.singleValueContainer().decode(String.self) {
      wrappedValue = text
    } else if let key = CodingUserInfoKey.text, let text = decoder.userInfo[key] as? Data,
      let payload = JSONValue(text)?.payload, payload.members != nil
    {
      wrappedValue = JSONCoding.text(payload)
    } else {
      throw ServiceError(
        .invalidRequest, "payload is a string (an asset's name, a link) or an object.")
    }
  }

  /// Encodes the text.
  public func encode(to encoder: any Encoder) throws { try wrappedValue.encode(to: encoder) }
}

extension NewNotification {
  /// The recipients: tags, of which a device must have at least one, or one tag expression.
  public enum Audience: Sendable, Equatable, Codable {
    /// All users with at least one of the tags.
    case anyTag([String])
    /// All users whose tags match an expression such as `news && !muted`.
    case tags(String)

    /// The users with these names.
    ///
    /// ```swift
    /// let audience = NewNotification.Audience.users(["alice", "bob"])
    /// ```
    public static func users(_ names: [String]) -> Audience {
      .anyTag(names.map { "username:" + $0 })
    }

    /// As parameters of a query: tags, or one expression.
    package var tags: [String] {
      switch self {
      case .anyTag(let tags): tags
      case .tags(let expression): [expression]
      }
    }

    /// Decodes an array or an expression.
    public init(from decoder: any Decoder) throws {
      let value = try decoder.singleValueContainer()
      if let expression = try? value.decode(String.self) {
        self = .tags(expression)
      } else {
        self = .anyTag(try value.decode([String].self))
      }
    }

    /// Encodes an array or an expression.
    public func encode(to encoder: any Encoder) throws {
      switch self {
      case .anyTag(let tags): try tags.encode(to: encoder)
      case .tags(let expression): try expression.encode(to: encoder)
      }
    }
  }
}

extension NewNotification: RequestMessage {
  package static func check(members: [String]) throws(ServiceError) {
    try check(members: members, known: CodingKeys.allCases.map(\.stringValue))
  }
}

extension Amendment: RequestMessage {
  package static func check(members: [String]) throws(ServiceError) {
    try NewNotification.check(members: members)
    guard !members.contains("to"), !members.contains("idempotencyKey") else {
      throw ServiceError(
        .invalidRequest,
        "The recipients and the idempotency key of a notification cannot be changed.")
    }
  }
}

extension KeyedDecodingContainer {
  /// Decodes a change; none if the member is missing.
  func decode<Value>(_ type: Change<Value>.Type, forKey key: Key) throws -> Change<Value> {
    contains(key) ? try Change(from: superDecoder(forKey: key)) : .none
  }

  /// Decodes the recipients.
  func decode(
    _ type: NewNotification.Audience.Type, forKey key: Key
  ) throws -> NewNotification.Audience {
    if let audience = try decodeIfPresent(type, forKey: key) { return audience }
    throw ServiceError(.invalidRequest, #"to is missing, such as ["username:alice"]."#)
  }
}

extension KeyedEncodingContainer {
  /// Encodes a change; the member is missing if there is none.
  mutating func encode<Value>(_ change: Change<Value>, forKey key: Key) throws {
    if change != .none { try encodeIfPresent(Optional(change), forKey: key) }
  }
}
