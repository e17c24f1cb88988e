/// What a notification says, whatever the platform of the device that shows it.
///
/// All members but ``text`` may be missing; which of them a platform shows is in `docs/PUSH.md`. The rules of each
/// are those of ``faults(allowing:)``.
public struct NotificationMessage: Sendable, Equatable {
  /// The text, `message` in JSON; empty if there is none.
  public var text: String
  /// One line above the text.
  public var title: String?
  /// One line between title and text.
  public var subtitle: String?
  /// What the media shows, for those who do not see it.
  public var alt: String?
  /// Where a tap leads: a URL.
  public var link: String?
  /// Buttons, the most important first.
  public var actions: [MessageAction]?
  /// The category that the app has registered for notifications of this kind.
  public var category: String?
  /// The sound; nil for the platform's own choice.
  public var sound: MessageSound?
  /// How much it may interrupt; nil for `normal`, without what only some platforms have.
  public var importance: Importance?
  /// The rank among an app's notifications, from 0 to 1.
  public var relevance: Double?
  /// Names the conversation that it is grouped with.
  public var thread: String?
  /// Names what it is about: a later notification of the same sender with this name takes its place.
  public var replaces: String?
  /// What a locked screen shows; nil for `public`.
  public var lockScreen: LockScreen?
  /// The URL of a small picture beside the text.
  public var icon: String?
  /// An accent, as `#rrggbb`.
  public var colour: String?
  /// The channel that an Android app has created.
  public var channel: String?
  /// Data of the publisher's own, for the app.
  public var data: JSONValue?
  /// Groups notifications in statistics.
  public var label: String?
  /// The language of its texts (BCP 47), such as `de-CH`.
  public var language: String?
  /// Its texts in other languages, by their tags; each device and each reader gets those that it prefers.
  public var languages: [String: MessageTranslation]?
  /// What `{{name}}` stands for in its texts, where a recipient has no value of that name.
  public var variables: [String: String]?
  /// Changes the finished payload for Apple's devices, as a JSON merge patch (RFC 7396): an object, in which `headers`
  /// is for `apns-priority`.
  public var apns: JSONValue?
  /// Changes the finished `message` for Firebase, as a JSON merge patch.
  public var fcm: JSONValue?
  /// Changes the finished payload for browsers, as a JSON merge patch, in which `headers` is for `Urgency`.
  public var webpush: JSONValue?

  /// Creates a message of a text; the other members can be set afterwards.
  public init(_ text: String = "") { self.text = text }

  /// How much a notification may interrupt.
  public enum Importance: String, Sendable, Codable, CaseIterable {
    /// Seen only by those who look.
    case min
    /// Without a sound.
    case low
    /// As usual.
    case normal
    /// Breaks through a summary and, where the user allows it, through Focus.
    case high
    /// As `high`, for what can't wait.
    case urgent
  }

  /// What a locked screen shows of a notification.
  public enum LockScreen: String, Sendable, Codable, CaseIterable {
    /// All of it.
    case `public`
    /// That there is one.
    case `private`
    /// Nothing.
    case secret
  }
}

/// A button of a notification: it opens a link, asks for a text, closes the notification, or only tells the publisher.
public struct MessageAction: Sendable, Equatable {
  /// Names it in the publisher's events: lower-case letters, digits and hyphens.
  public var id: String
  /// What is on the button.
  public var label: String
  /// The URL that it opens.
  public var link: String?
  /// The prompt for a text that the user writes.
  public var input: String?
  /// Whether it only closes the notification.
  public var dismiss: Bool?
  /// Whether it is shown as one that destroys something.
  public var destructive: Bool?

  /// Creates a button that only tells the publisher; `link`, `input` or `dismiss` can be set afterwards.
  public init(_ id: String, label: String) { (self.id, self.label) = (id, label) }
}

/// The sound of a notification.
public enum MessageSound: Sendable, Equatable {
  /// None; `none` in JSON.
  case silent
  /// The platform's usual one.
  case `default`
  /// A file of the app, such as `chime.caf`.
  case named(String)
  /// Sounds although the device is muted, at a volume from 0 to 1; only an admin may send it, and Apple has to have
  /// entitled the app.
  case critical(volume: Double)
}

// MARK: - JSON

extension NotificationMessage: Codable {
  /// The names of its members in JSON.
  package enum CodingKeys: String, CodingKey, CaseIterable {
    case text = "message"
    case title, subtitle, alt, link, actions, category, sound, importance, relevance
    case thread, replaces, lockScreen, icon, colour, channel, data, label
    case language, languages, variables
    case apns, fcm, webpush
  }

  /// Decodes the members that are there.
  ///
  /// - Throws: a `ServiceError` with a fault for each that has the wrong type.
  public init(from decoder: any Decoder) throws {
    var reader = try MemberReader<CodingKeys>(decoder)
    text = reader.read(.text) ?? ""
    (title, subtitle) = (reader.read(.title), reader.read(.subtitle))
    (alt, link) = (reader.read(.alt), reader.read(.link))
    actions = reader.readItems(.actions)
    (category, sound) = (reader.read(.category), reader.read(.sound))
    (importance, relevance) = (reader.read(.importance), reader.read(.relevance))
    (thread, replaces) = (reader.read(.thread), reader.read(.replaces))
    (lockScreen, icon) = (reader.read(.lockScreen), reader.read(.icon))
    (colour, channel) = (reader.read(.colour), reader.read(.channel))
    (data, label) = (reader.readValue(.data), reader.read(.label))
    (language, languages) = (reader.read(.language), reader.readEntries(.languages))
    variables = reader.readEntries(.variables)
    (apns, fcm) = (reader.readValue(.apns), reader.readValue(.fcm))
    webpush = reader.readValue(.webpush)
    try reader.throwFaults()
  }

  /// Encodes the members that it has.
  public func encode(to encoder: any Encoder) throws {
    var members = encoder.container(keyedBy: CodingKeys.self)
    if !text.isEmpty { try members.encode(text, forKey: .text) }
    try members.encodeIfPresent(title, forKey: .title)
    try members.encodeIfPresent(subtitle, forKey: .subtitle)
    try members.encodeIfPresent(alt, forKey: .alt)
    try members.encodeIfPresent(link, forKey: .link)
    try members.encodeIfPresent(actions, forKey: .actions)
    try members.encodeIfPresent(category, forKey: .category)
    try members.encodeIfPresent(sound, forKey: .sound)
    try members.encodeIfPresent(importance, forKey: .importance)
    try members.encodeIfPresent(relevance, forKey: .relevance)
    try members.encodeIfPresent(thread, forKey: .thread)
    try members.encodeIfPresent(replaces, forKey: .replaces)
    try members.encodeIfPresent(lockScreen, forKey: .lockScreen)
    try members.encodeIfPresent(icon, forKey: .icon)
    try members.encodeIfPresent(colour, forKey: .colour)
    try members.encodeIfPresent(channel, forKey: .channel)
    try members.encodeIfPresent(data, forKey: .data)
    try members.encodeIfPresent(label, forKey: .label)
    try members.encodeIfPresent(language, forKey: .language)
    try members.encodeIfPresent(languages, forKey: .languages)
    try members.encodeIfPresent(variables, forKey: .variables)
    try members.encodeIfPresent(apns, forKey: .apns)
    try members.encodeIfPresent(fcm, forKey: .fcm)
    try members.encodeIfPresent(webpush, forKey: .webpush)
  }

  /// All members but the text, as JSON text; nil if there are none.
  package var members: String? {
    var others = self
    others.text = ""
    return others == NotificationMessage() ? nil : JSONCoding.text(others)
  }

  /// A message of a text and what ``members`` was.
  package init(_ text: String, members: String?) {
    self = members.flatMap { try? JSONCoding.decode(from: $0.utf8) } ?? NotificationMessage()
    self.text = text
  }
}

extension NotificationMessage {
  /// Title and text in one line, for lists.
  package var summary: String {
    [title, text].compactMap(\.self).filter { !$0.isEmpty }.joined(separator: ": ")
  }
}

extension NotificationMessage: ExpressibleByStringInterpolation {
  /// A message of a text.
  public init(stringLiteral text: String) { self.init(text) }
}

extension MessageAction: Codable {
  private enum CodingKeys: String, CodingKey, CaseIterable {
    case id, label, link, input, dismiss, destructive
  }

  /// Decodes a button.
  ///
  /// - Throws: a `ServiceError` with a fault for each member that is missing or has the wrong type, and in a request
  ///   for each that is unknown.
  public init(from decoder: any Decoder) throws {
    var reader = try MemberReader<CodingKeys>(decoder)
    try reader.requireKnown(decoder)
    (id, label) = (reader.require(.id) ?? "", reader.require(.label) ?? "")
    (link, input) = (reader.read(.link), reader.read(.input))
    (dismiss, destructive) = (reader.read(.dismiss), reader.read(.destructive))
    try reader.throwFaults()
  }
}

extension MessageSound: Codable {
  private enum CodingKeys: String, CodingKey, CaseIterable {
    case critical
  }

  /// Decodes `"none"`, `"default"`, a file's name or `{"critical": 0.5}`.
  ///
  /// - Throws: a `ServiceError` if it is none of these.
  public init(from decoder: any Decoder) throws {
    if let name = try? decoder.singleValueContainer().decode(String.self) {
      self =
        switch name {
        case "none": .silent
        case "default": .default
        default: .named(name)
        }
    } else if var reader = try? MemberReader<CodingKeys>(decoder) {
      try reader.requireKnown(decoder)
      let volume: Double? = reader.require(.critical)
      try reader.throwFaults()
      self = .critical(volume: volume ?? 0)
    } else {
      throw ServiceError(
        .invalidRequest,
        #"sound is "none", "default", a file's name or {"critical": a volume from 0 to 1}."#)
    }
  }

  /// Encodes what `init(from:)` decodes.
  public func encode(to encoder: any Encoder) throws {
    var value = encoder.singleValueContainer()
    switch self {
    case .silent: try value.encode("none")
    case .default: try value.encode("default")
    case .named(let name): try value.encode(name)
    case .critical(let volume): try value.encode([CodingKeys.critical.stringValue: volume])
    }
  }
}
