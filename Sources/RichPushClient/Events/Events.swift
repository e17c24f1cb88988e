public import RichPushAPI

/// An event of an event stream, such as a push of the embedded service.
public struct PushEvent: Sendable, Equatable {
  /// The event's ID, for `events(after:)` to resume after it.
  public let id: String
  /// The event's data: JSON.
  public let text: String

  /// Creates an event, for an app that receives its pushes in another way.
  public init(id: String, text: String) {
    self.id = id
    self.text = text
  }

  /// The parsed push; unknown members are ignored and missing ones are nil.
  public var push: Push {
    Push(JSONValue(text.utf8) ?? .null)
  }

  /// A push: the ID of a notification to fetch, or only a text.
  public struct Push: Sendable, Equatable {
    /// The notification to fetch.
    public let id: Int?
    /// All notifications it announces, newest first; several if the server merged pushes.
    public let ids: [Int]
    /// What it says, whatever its form; of a long text the beginning, and of a plain alert the text alone.
    ///
    /// Without title, subtitle and text if ``hasTexts`` is false.
    public let message: NotificationMessage
    /// Whether it has its texts: those of a private notification are not in an alert for an Apple device, and have to
    /// be fetched (``RichPushClient/details(_:)``).
    public let hasTexts: Bool
    /// The kind of media; nil if there is none.
    public let richType: String?
    /// What the media looks like from afar, to be shown until it is there (``ThumbHash``); nil if the push does not
    /// say it.
    public let thumbHash: String?

    /// Parses the text of a push; nil if it is not JSON.
    package init?(text: [UInt8]) {
      guard let json = JSONValue(text) else { return nil }
      self.init(json)
    }

    /// Parses a push, such as an event's or what a platform gave to an app.
    package init(_ json: JSONValue) {
      let id = json.richId.text.flatMap(Int.init) ?? json.richId.integer
      if case .array(let all) = json.richIds {
        ids = all.compactMap { $0.text.flatMap(Int.init) ?? $0.integer }
      } else {
        ids = id.map { [$0] } ?? []
      }
      self.id = id
      richType = json.richType.text
      thumbHash = json.thumbHash.text
      var message = NotificationMessage(carriedBy: json)
      let alert = json.aps.alert
      if let text = json.richMessage.text {
        message.text = text
        (message.title, message.subtitle) = (json.richTitle.text, json.richSubtitle.text)
        hasTexts = true
      } else if alert != .null, (message.lockScreen ?? .public) == .public {
        message.text = alert.text ?? alert.body.text ?? ""
        (message.title, message.subtitle) = (alert.title.text, alert.subtitle.text)
        hasTexts = true
      } else {
        hasTexts = false
      }
      self.message = message
    }
  }
}

extension NotificationMessage {
  /// All members but the texts, from where a push has them: in Apple's names, or in its own.
  fileprivate init(carriedBy push: JSONValue) {
    self.init()
    (link, alt) = (push.link.text, push.att.alt.text)
    if case .array(let items) = push.actions {
      actions = items.compactMap { try? JSONCoding.decode(from: JSONCoding.encode($0)) }
    }
    category = push.aps.category.text
    if let volume = push.aps.sound.volume.double {
      sound = .critical(volume: volume)
    } else {
      let named = push.aps.sound == .null ? push.sound : push.aps.sound
      sound = named == .null ? nil : try? JSONCoding.decode(from: JSONCoding.encode(named))
    }
    importance =
      push.importance.text.flatMap(Importance.init(rawValue:))
      ?? push.aps.members?["interruption-level"]?.text.flatMap { Importance(interruptionLevel: $0) }
    relevance = push.aps.members?["relevance-score"]?.double
    thread = push.aps.members?["thread-id"]?.text ?? push.thread.text
    replaces = push.replaces.text
    lockScreen = push.lockScreen.text.flatMap(LockScreen.init(rawValue:))
    (icon, colour) = (push.icon.text, push.colour.text)
    data = push.data == .null ? nil : push.data
  }
}

extension NotificationMessage.Importance {
  /// The usual importance of an interruption level of Apple's.
  fileprivate init?(interruptionLevel: String) {
    switch interruptionLevel {
    case "passive": self = .low
    case "active": self = .normal
    case "time-sensitive", "critical": self = .high
    default: return nil
    }
  }
}

/// An event of an asset.
public struct AssetEvent: Sendable {
  /// The event's ID, for `assetEvents(after:)` to resume after it.
  public let id: String
  /// The event's data: JSON.
  public let text: String
  /// The rich type of the asset.
  public let richType: String
  /// The name of the asset.
  public let name: String
  /// The asset; nil if its file was removed.
  public let asset: Asset?

  /// Parses an event; nil if it is of another kind.
  init?(id: String, text: String) {
    guard let json = JSONValue(text.utf8), json.type.text == "asset",
      let richType = json.richType.text, let name = json.name.text
    else { return nil }
    (self.id, self.text, self.richType, self.name) = (id, text, richType, name)
    asset = try? JSONCoding.decode(Asset.self, from: text.utf8)
  }
}
