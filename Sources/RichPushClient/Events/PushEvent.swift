import Foundation

/// One push, as the embedded gateway delivered it.
public struct PushEvent: Sendable, Equatable {
  /// The event's id: what to give to `events(after:)` to go on behind it.
  public let id: String
  /// The push as it was sent, JSON text.
  public let text: String

  /// An event, as an app that gets its pushes another way makes it.
  public init(id: String, text: String) {
    self.id = id
    self.text = text
  }

  /// The push, read; unknown members are left alone and missing ones are nil.
  public var push: Push {
    let json = (try? JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))) ?? .null
    return Push(json)
  }

  /// What a push says: which notification to fetch, or just a text.
  public struct Push: Sendable, Equatable {
    /// The notification to fetch.
    public let id: Int?
    /// Every notification it speaks for, the newest first: several where the server merged pushes.
    public let ids: [Int]
    /// The text shown beside the media.
    public let message: String?
    /// The kind of media.
    public let richType: String?
    /// The text of a plain alert.
    public let alert: String?

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
