import Foundation

/// What becomes of the server's assets, as it happens; each iteration is a listener of its own.
public struct AssetEvents: AsyncSequence, Sendable {
  let events: PushEvents

  /// Starts to listen.
  public func makeAsyncIterator() -> Iterator { Iterator(events: events.makeAsyncIterator()) }

  /// One listener: it holds a connection, and opens another when that one ends.
  public struct Iterator: AsyncIteratorProtocol {
    var events: PushEvents.Iterator

    /// The next event of an asset; waits, also over lost connections, until there is one.
    public mutating func next() async throws -> AssetEvent? {
      while let event = try await events.next() {
        if let event = AssetEvent(id: event.id, text: event.text) { return event }
      }
      return nil
    }
  }
}

/// Something that became of an asset.
public struct AssetEvent: Sendable {
  /// The event's place: what to give to `assetEvents(after:)` to go on behind it.
  public let id: String
  /// The event as it was sent, JSON text.
  public let text: String
  /// The rich type of the asset.
  public let richType: String
  /// The name of the asset.
  public let name: String
  /// The asset as it is now; nil when its file was removed.
  public let asset: Asset?

  /// Reads an event; nil when it is of another kind.
  init?(id: String, text: String) {
    let data = Data(text.utf8)
    guard let json = try? JSONDecoder().decode(JSONValue.self, from: data),
      json.type.text == "asset", let richType = json.richType.text, let name = json.name.text
    else { return nil }
    (self.id, self.text, self.richType, self.name) = (id, text, richType, name)
    asset = try? JSONDecoder().decode(Asset.self, from: data)
  }
}
