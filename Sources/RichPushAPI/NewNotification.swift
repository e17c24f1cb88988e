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
      throw ServiceError(.invalidRequest, "form must be one of \(names), not \(name.quoted).")
    }
    self = form
  }
}

/// What is done with recipients who have no value for a placeholder.
public enum MissingValues: String, Sendable, Codable, CaseIterable {
  /// The notification is refused.
  case refuse
  /// They do not get it.
  case skip
}

/// A notification to be created: the body of `POST /api/notifications`.
///
/// It has a title, a text or media, or several of them.
public struct NewNotification: Sendable, Equatable {
  /// What it says.
  public var message: NotificationMessage
  /// The kind of media: `img`, `sound`, `url`, or the name of any plugin of the server; nil for no media.
  public var richType: String?
  /// The media: an asset's name, or literal content such as a link.
  public var payload: String?
  /// The recipients.
  public var audience: Audience
  /// When it becomes visible to its recipients and is pushed; nil for immediately.
  public var notBefore: Date?
  /// The time by the clock of each recipient at which it becomes visible and is pushed, instead of ``notBefore``.
  public var localTime: LocalTime?
  /// The most devices that it is pushed to in a minute; nil for any number.
  public var perMinute: Int?
  /// When its media is removed, if ever.
  public var expires: Date?
  /// A key chosen by the publisher: a second request with the same key creates nothing.
  public var idempotencyKey: String?
  /// What the pushes look like; nil for `alert` if the message has what only an alert shows, or no media, and
  /// otherwise for `silent`.
  public var form: PushForm?
  /// Whether the push sets the app's badge to the number of unread notifications; not possible with `silent`.
  public var badge: Bool?
  /// What `{{name}}` in the texts stands for, by recipient: `username:` and the user's name.
  ///
  /// Where a recipient has no value here, the user's attribute of that name is taken.
  public var values: [String: [String: String]]?
  /// What is done if a recipient has no value for a placeholder without a default; nil to refuse the notification.
  public var onMissing: MissingValues?

  /// Creates a notification with media.
  ///
  /// ```swift
  /// let new = NewNotification(
  ///   "Look at this", richType: "img", payload: "beach.jpg", to: .users(["alice"]))
  /// ```
  public init(
    _ message: NotificationMessage, richType: String, payload: String, to audience: Audience,
    expires: Date? = nil, idempotencyKey: String? = nil
  ) {
    self.init(message, to: audience, expires: expires, idempotencyKey: idempotencyKey)
    (self.richType, self.payload) = (richType, payload)
  }

  /// Creates a notification without media.
  ///
  /// ```swift
  /// var new = NewNotification("Your parcel is at the door.", to: .users(["alice"]))
  /// new.message.title = "Parcel"
  /// ```
  public init(
    _ message: NotificationMessage, to audience: Audience, expires: Date? = nil,
    idempotencyKey: String? = nil
  ) {
    (self.message, self.audience) = (message, audience)
    (self.expires, self.idempotencyKey) = (expires, idempotencyKey)
  }
}

extension NewNotification: Codable {
  private enum CodingKeys: String, CodingKey, CaseIterable {
    case richType, payload
    case audience = "to"
    case notBefore, localTime, perMinute, expires, form, badge, idempotencyKey, values, onMissing
  }

  /// Decodes a notification.
  ///
  /// - Throws: a `ServiceError` with a fault for each member that is missing or has the wrong type.
  public init(from decoder: any Decoder) throws {
    var reader = try MemberReader<CodingKeys>(decoder)
    message = reader.readGroup(decoder) ?? NotificationMessage()
    richType = reader.read(.richType)
    payload = reader.read(.payload, as: Payload.self)?.wrappedValue
    audience = reader.require(.audience) ?? .anyTag([])
    (notBefore, expires) = (reader.read(.notBefore), reader.read(.expires))
    (localTime, perMinute) = (reader.read(.localTime), reader.read(.perMinute))
    (form, badge) = (reader.read(.form), reader.read(.badge))
    idempotencyKey = reader.read(.idempotencyKey)
    (values, onMissing) = (reader.readEntries(.values), reader.read(.onMissing))
    try reader.throwFaults()
  }

  /// Encodes the members that it has.
  public func encode(to encoder: any Encoder) throws {
    try message.encode(to: encoder)
    var members = encoder.container(keyedBy: CodingKeys.self)
    try members.encodeIfPresent(richType, forKey: .richType)
    try members.encodeIfPresent(payload, forKey: .payload)
    try members.encode(audience, forKey: .audience)
    try members.encodeIfPresent(notBefore, forKey: .notBefore)
    try members.encodeIfPresent(localTime, forKey: .localTime)
    try members.encodeIfPresent(perMinute, forKey: .perMinute)
    try members.encodeIfPresent(expires, forKey: .expires)
    try members.encodeIfPresent(form, forKey: .form)
    try members.encodeIfPresent(badge, forKey: .badge)
    try members.encodeIfPresent(idempotencyKey, forKey: .idempotencyKey)
    try members.encodeIfPresent(values, forKey: .values)
    try members.encodeIfPresent(onMissing, forKey: .onMissing)
  }
}

/// Changes to a notification that no device has fetched yet: the body of `PATCH /api/notifications/<id>`, a JSON
/// merge patch (RFC 7396).
public struct Amendment: Sendable, Equatable, Codable {
  /// The text.
  public var text = Change<String>.none
  /// The kind of media.
  public var richType = Change<String>.none
  /// An asset's name, or literal content such as a link.
  public var payload = Change<Payload>.none
  /// When it becomes visible to its recipients; only if it is not visible yet.
  public var notBefore = Change<Date>.none
  /// The time by the clock of each recipient; only if it is visible to none yet.
  public var localTime = Change<LocalTime>.none
  /// The most devices that it is pushed to in a minute; only if it is visible to none yet.
  public var perMinute = Change<Int>.none
  /// When its media is removed.
  public var expires = Change<Date>.none
  /// What the pushes look like.
  public var form = Change<PushForm>.none
  /// Whether the push sets the app's badge.
  public var badge = Change<Bool>.none
  /// One line above the text.
  public var title = Change<String>.none
  /// One line between title and text.
  public var subtitle = Change<String>.none
  /// What the media shows.
  public var alt = Change<String>.none
  /// Where a tap leads.
  public var link = Change<String>.none
  /// The buttons.
  public var actions = Change<[MessageAction]>.none
  /// The category that the app has registered.
  public var category = Change<String>.none
  /// The sound.
  public var sound = Change<MessageSound>.none
  /// How much it may interrupt.
  public var importance = Change<NotificationMessage.Importance>.none
  /// The rank among an app's notifications.
  public var relevance = Change<Double>.none
  /// The conversation.
  public var thread = Change<String>.none
  /// What a locked screen shows.
  public var lockScreen = Change<NotificationMessage.LockScreen>.none
  /// The URL of a small picture.
  public var icon = Change<String>.none
  /// An accent.
  public var colour = Change<String>.none
  /// The channel that an Android app has created.
  public var channel = Change<String>.none
  /// Data of the publisher's own; an object changes those of its members that it names.
  public var data = Change<JSONValue>.none
  /// Groups notifications in statistics.
  public var label = Change<String>.none
  /// The language of the texts.
  public var language = Change<String>.none
  /// The texts in other languages; each that is named changes by the members that it names.
  public var languages = Change<[String: MessageTranslation]>.none
  /// What placeholders stand for where a recipient has no value.
  public var variables = Change<[String: String]>.none
  /// What placeholders stand for, by recipient; those that are not named keep what they have.
  public var values = Change<[String: [String: String]]>.none
  /// The changes of payloads for Apple's devices, all of them.
  public var apns = Change<JSONValue>.none
  /// The changes of messages for Firebase, all of them.
  public var fcm = Change<JSONValue>.none
  /// The changes of payloads for browsers, all of them.
  public var webpush = Change<JSONValue>.none

  /// Creates an amendment; nil leaves a member unchanged, and the others can be set afterwards.
  ///
  /// ```swift
  /// var amendment = Amendment(message: "Look at that")
  /// amendment.expires = .removal
  /// ```
  public init(
    message: String? = nil, richType: String? = nil, payload: String? = nil,
    notBefore: Date? = nil, expires: Date? = nil
  ) {
    (text, self.richType) = (Change(message), Change(richType))
    self.payload = Change(payload.map { Payload(wrappedValue: $0) })
    (self.notBefore, self.expires) = (Change(notBefore), Change(expires))
  }

  private enum CodingKeys: String, CodingKey {
    case text = "message"
    case richType, payload, notBefore, localTime, perMinute, expires, form, badge
    case title, subtitle, alt, link, actions, category, sound, importance, relevance, thread
    case lockScreen, icon, colour, channel, data, label, language, languages, variables, values
    case apns, fcm, webpush
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
        .invalidRequest, "payload must be a string (an asset's name, a link) or an object.")
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

    /// Those who are in a segment when the notification is sent.
    ///
    /// ```swift
    /// let audience = NewNotification.Audience.segment("german-readers")
    /// ```
    public static func segment(_ name: String) -> Audience { .anyTag(["segment:" + name]) }

    /// Those who got a notification, and have neither opened it nor marked it read when this one is sent.
    ///
    /// ```swift
    /// let audience = NewNotification.Audience.notOpened(12)
    /// ```
    public static func notOpened(_ id: Int) -> Audience { .anyTag(["notOpened:\(id)"]) }

    /// Those who have opened a notification or marked it read when this one is sent.
    ///
    /// ```swift
    /// let audience = NewNotification.Audience.opened(12)
    /// ```
    public static func opened(_ id: Int) -> Audience { .anyTag(["opened:\(id)"]) }

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
    try check(
      members: members,
      known: NotificationMessage.CodingKeys.allCases.map(\.stringValue)
        + CodingKeys.allCases.map(\.stringValue))
  }

  /// A notification, changed by a JSON merge patch (RFC 7396).
  ///
  /// - Throws: a fault for each member that is unknown, has the wrong type, or can't be changed.
  package func changed(by patch: [UInt8]) throws(ServiceError) -> NewNotification {
    guard case .object(let changes)? = JSONValue(patch) else {
      throw ServiceError(.invalidRequest, "The body is not a JSON object in UTF-8.")
    }
    try Amendment.check(members: Array(changes.keys))
    guard let old = JSONValue(JSONCoding.encode(self)) else {
      throw ServiceError(.internalError, "The notification is not JSON.")
    }
    var new = old.merging(.object(changes))
    // An object is the payload's text, and an override is a patch itself, in which null has a meaning.
    for name in ["payload", "apns", "fcm", "webpush"] {
      guard let change = changes[name], case .object(var members) = new else { continue }
      members[name] = change == .null ? nil : change
      new = .object(members)
    }
    var changed: NewNotification = try JSONCoding.request(from: JSONCoding.encode(new))
    // JSON has whole seconds only.
    if changes["notBefore"] == nil { changed.notBefore = notBefore }
    if changes["expires"] == nil { changed.expires = expires }
    return changed
  }

  /// The members that differ in `new`, with their values here, as an object; null for one that is absent here.
  package func members(changedIn new: NewNotification) -> JSONValue {
    let (old, new) = (members, new.members)
    let names = Set(old.keys).union(new.keys).filter { old[$0] != new[$0] }
    return .object(Dictionary(uniqueKeysWithValues: names.map { ($0, old[$0] ?? .null) }))
  }

  private var members: [String: JSONValue] { JSONValue(JSONCoding.encode(self))?.members ?? [:] }
}

extension Amendment: RequestMessage {
  package static func check(members: [String]) throws(ServiceError) {
    try NewNotification.check(members: members)
    let fixed = ["to", "idempotencyKey", "replaces", "onMissing"].filter(members.contains).map {
      ServiceError.Fault($0, .invalidRequest, "\($0) of a notification cannot be changed.")
    }
    if let error = ServiceError(fixed) { throw error }
  }
}

extension JSONValue {
  /// The value after a JSON merge patch (RFC 7396).
  package func merging(_ patch: JSONValue) -> JSONValue {
    guard case .object(let changes) = patch else { return patch }
    var members = self.members ?? [:]
    for (name, change) in changes {
      members[name] = change == .null ? nil : (members[name] ?? .null).merging(change)
    }
    return .object(members)
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
