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
    /// The text beside the media.
    public let message: String?
    /// The kind of media.
    public let richType: String?
    /// The text of a plain alert.
    public let alert: String?

    /// Parses the text of a push; nil if it is not JSON.
    package init?(text: [UInt8]) {
      guard let json = JSONValue(text) else { return nil }
      self.init(json)
    }

    init(_ json: JSONValue) {
      let id = json.richId.text.flatMap(Int.init) ?? json.richId.integer
      if case .array(let all) = json.richIds {
        ids = all.compactMap { $0.text.flatMap(Int.init) }
      } else {
        ids = id.map { [$0] } ?? []
      }
      self.id = id
      message = json.richMessage.text
      richType = json.richType.text
      alert = json.aps.alert.text ?? json.aps.alert.body.text
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
