public import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// What a publisher sends.
extension RichPushClient {
  /// Creates a notification; when this returns it is stored for good and its pushes are on their way.
  public func create(_ notification: NewNotification) async throws -> RichNotification {
    try await value(request("POST", ["api", "notifications"], json: notification))
  }

  /// Changes a notification that no device has fetched yet, and pushes it again.
  public func amend(_ id: Int, _ amendment: Amendment) async throws -> RichNotification {
    try await value(request("PATCH", ["api", "notifications", String(id)], json: amendment))
  }

  /// Withdraws a notification: nobody can fetch it any more, and waiting pushes are not sent.
  public func withdraw(_ id: Int) async throws {
    try await send(request("DELETE", ["api", "notifications", String(id)]))
  }

  /// What becomes of this publisher's notifications and of the assets, as it happens: `text` is JSON
  /// such as `{"type":"receipt","notification":7,"user":"alice","state":"fetched",…}`.
  ///
  /// It resumes as ``events(after:connected:)`` does; "0" begins with the oldest that is kept.
  public func publisherEvents(
    after lastEventID: String? = nil, connected: @escaping @Sendable (String) -> Void = { _ in }
  ) -> PushEvents {
    PushEvents(
      client: self, lastEventID: lastEventID, path: ["api", "events", "stream"],
      connected: connected)
  }

  /// Uploads a file as an asset of a rich type, under the name a notification's payload will use.
  ///
  /// - Throws: ``RichPushError`` `unreadable` for what is no file, such as a folder or a pipe.
  public func upload(_ file: URL, name: String? = nil, richType: String) async throws -> Asset {
    // `URLSession` would spin on a folder, wait for somebody to write into a pipe, and send as many
    // bytes of a linked file as the link itself has.
    let source = file.resolvingSymlinksInPath()
    if let problem = source.problem { throw RichPushError(.unreadable, problem) }
    let segments = ["api", "assets", richType, name ?? file.lastPathComponent]
    let request = try request("PUT", segments)
    let data: Data
    let response: URLResponse
    do {
      (data, response) = try await session.upload(for: request, fromFile: source)
    } catch {
      throw RichPushError(transfer: error, to: endpoint)
    }
    if let error = RichPushError(response, body: data) { throw error }
    return try JSONCoding.value(in: data)
  }

  /// The assets that can be named in a payload, and those that were refused, with the reason.
  ///
  /// All of them, or those of one rich type, or in one state.
  public func assets(
    richType: String? = nil, state: Asset.State? = nil
  ) async throws -> [Asset] {
    let segments = ["api", "assets"] + (richType.map { [$0] } ?? [])
    var assets: [Asset] = []
    var next: String?
    repeat {
      let query =
        (next.map { [(name: "after", value: $0)] } ?? [])
        + (state.map { [(name: "state", value: $0.rawValue)] } ?? [])
      let page: AssetPage = try await value(request("GET", segments, query: query))
      assets += page.assets
      next = page.next
    } while next != nil
    return assets
  }

  /// One asset as the folder has it now.
  public func asset(_ name: String, richType: String) async throws -> Asset {
    try await value(request("GET", ["api", "assets", richType, name]))
  }

  /// How many assets are ready, being prepared and refused.
  public func assetCounts() async throws -> AssetCounts {
    let page: AssetPage = try await value(
      request("GET", ["api", "assets"], query: [(name: "limit", value: "1")]))
    guard let counts = page.counts else {
      throw RichPushError(.malformed, "The server does not count its assets.")
    }
    return counts
  }

  /// What becomes of the assets from now on, or after an event; `"0"` begins with the oldest kept.
  ///
  /// It reconnects by itself and resumes without loss, as ``events(after:connected:)`` does.
  public func assetEvents(
    after lastEventID: String? = nil, connected: @escaping @Sendable (String) -> Void = { _ in }
  ) -> AssetEvents {
    AssetEvents(events: publisherEvents(after: lastEventID, connected: connected))
  }

  /// The state and the statistics of the server's plugins; for admins.
  public func plugins() async throws -> PluginReport {
    try await value(request("GET", ["api", "plugins"]))
  }

  /// Removes an asset; notifications that were already sent keep their content.
  public func removeAsset(_ name: String, richType: String) async throws {
    try await send(request("DELETE", ["api", "assets", richType, name]))
  }
}

private struct AssetPage: Decodable {
  let assets: [Asset]
  let next: String?
  let counts: AssetCounts?
}

extension URL {
  /// Why it is not a file that can be read, in a sentence; nil when it is.
  fileprivate var problem: String? {
    let place = self.path(percentEncoded: false)
    let type = try? FileManager.default.attributesOfItem(atPath: place)[.type] as? FileAttributeType
    switch type {
    case nil: return "There is no such file."
    case .typeDirectory: return "It is a folder: name the files in it."
    case .typeRegular:
      let isReadable = FileManager.default.isReadableFile(atPath: place)
      return isReadable ? nil : "It cannot be read: permission is denied."
    default: return "It is not a file."
    }
  }
}
