public import RichPushAPI

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Requests of a publisher.
extension RichPushClient {
  /// Creates a notification; when this returns, it is stored durably and its pushes are queued.
  ///
  /// ```swift
  /// let created = try await client.create(
  ///   NewNotification("Hello", richType: "img", payload: "beach.jpg", to: .tags("news && !muted")))
  /// print(created.id, created.reach?.devices ?? 0)
  /// ```
  public func create(_ notification: NewNotification) async throws -> RichNotification {
    try await value(request("POST", ["api", "notifications"], json: notification))
  }

  /// Changes a notification that no device has fetched yet, and pushes it again.
  ///
  /// ```swift
  /// let amended = try await client.amend(7, Amendment(message: "Hello again"))
  /// print(amended.message.text)
  /// ```
  public func amend(_ id: Int, _ amendment: Amendment) async throws -> RichNotification {
    try await value(request("PATCH", ["api", "notifications", String(id)], json: amendment))
  }

  /// Withdraws a notification: it can no longer be fetched, and pushes not sent yet are cancelled.
  ///
  /// ```swift
  /// try await client.withdraw(7)
  /// ```
  public func withdraw(_ id: Int) async throws {
    try await send(request("DELETE", ["api", "notifications", String(id)]))
  }

  /// The events of this publisher's notifications and of the assets; `text` is JSON such as
  /// `{"type":"receipt","notification":7,"user":"alice","state":"fetched",…}`.
  ///
  /// It resumes as ``events(after:connected:)`` does; `"0"` starts with the oldest stored event.
  ///
  /// ```swift
  /// for try await event in client.publisherEvents(after: "0") { print(event.id, event.text) }
  /// ```
  public func publisherEvents(
    after lastEventID: String? = nil, connected: @escaping @Sendable (String) -> Void = { _ in }
  ) -> PushEvents {
    PushEvents(
      client: self, lastEventID: lastEventID, path: ["api", "events", "stream"], sender: .user,
      connected: connected)
  }

  /// Uploads a file as an asset; `name` is what payloads will refer to.
  ///
  /// Without a rich type, the server recognises it by the file's content: the asset has it. An asset of the same name
  /// is replaced, unless `replacing` is false.
  ///
  /// ```swift
  /// let asset = try await client.upload(url)
  /// print(asset.richType, asset.name, asset.state, asset.advice ?? "")
  /// ```
  ///
  /// - Throws: ``RichPushError`` with the code `unreadable` if it is not a regular file; with the status 412 if it
  ///   would replace an asset and may not.
  public func upload(
    _ file: URL, name: String? = nil, richType: String? = nil, replacing: Bool = true
  ) async throws -> Asset {
    // `URLSession` would loop on a folder, block on a pipe, and of a symbolic link's file send only as many
    // bytes as the link has.
    let source = file.resolvingSymlinksInPath()
    if let problem = source.problem { throw RichPushError(.unreadable, problem) }
    let name = name ?? file.lastPathComponent
    var request =
      if let richType {
        try request("PUT", ["api", "assets", richType, name])
      } else {
        try request("POST", ["api", "assets"], query: [(name: "name", value: name)])
      }
    if !replacing { request.fields["If-None-Match"] = "*" }
    request.body = .file(source)
    return try await value(request)
  }

  /// All assets, or those of one rich type, in one state or with a label; refused ones have a reason.
  ///
  /// Without an order they are by rich type and name; `isUnused` leaves out what notifications that are still there have,
  /// and what drafts and templates name.
  ///
  /// ```swift
  /// for asset in try await client.assets(richType: "img", state: .refused) {
  ///   print(asset.name, asset.reason ?? "")
  /// }
  /// ```
  public func assets(
    richType: String? = nil, state: Asset.State? = nil, order: Asset.Order? = nil,
    label: String? = nil, isUnused: Bool = false
  ) async throws -> [Asset] {
    let segments = ["api", "assets"] + (richType.map { [$0] } ?? [])
    var assets: [Asset] = []
    var next: String?
    repeat {
      let parameters = [
        ("after", next), ("state", state?.rawValue), ("sort", order?.rawValue), ("label", label),
        ("unused", isUnused ? "" : nil),
      ]
      let query = parameters.compactMap { name, value in value.map { (name: name, value: $0) } }
      let page: AssetPage = try await value(request("GET", segments, query: query))
      assets += page.assets
      next = page.next
    } while next != nil
    return assets
  }

  /// The current state of one asset.
  ///
  /// ```swift
  /// while try await client.asset("beach.jpg", richType: "img").state == .preparing {
  ///   try await Task.sleep(for: .seconds(1))
  /// }
  /// ```
  public func asset(_ name: String, richType: String) async throws -> Asset {
    try await value(request("GET", ["api", "assets", richType, name]))
  }

  /// Changes what the catalogue says of an asset: its alternative text, the focus of its crops, and its labels.
  ///
  /// New notifications have the new text and focus; those that were sent keep theirs.
  ///
  /// ```swift
  /// let asset = try await client.amendAsset(
  ///   "beach.jpg", richType: "img",
  ///   AssetAmendment(alt: "A dog at a lake", focus: Asset.Focus(x: 0.2, y: 0.6)))
  /// print(asset.alt ?? "")
  /// ```
  public func amendAsset(
    _ name: String, richType: String, _ amendment: AssetAmendment
  ) async throws -> Asset {
    try await value(request("PATCH", ["api", "assets", richType, name], json: amendment))
  }

  /// The labels of assets, the most frequent first.
  ///
  /// ```swift
  /// for label in try await client.assetLabels() { print(label.label, label.count) }
  /// ```
  public func assetLabels() async throws -> [AssetLabel] {
    let list: AssetLabelList = try await value(request("GET", ["api", "asset-labels"]))
    return list.labels
  }

  /// How many assets are ready, being prepared and refused.
  ///
  /// ```swift
  /// print(try await client.assetCounts().ready)
  /// ```
  public func assetCounts() async throws -> AssetCounts {
    let page: AssetPage = try await value(
      request("GET", ["api", "assets"], query: [(name: "limit", value: "1")]))
    guard let counts = page.counts else {
      throw RichPushError(.malformed, "The server does not count its assets.")
    }
    return counts
  }

  /// The events of the assets.
  ///
  /// It resumes as ``events(after:connected:)`` does; `"0"` starts with the oldest stored event.
  ///
  /// ```swift
  /// for try await event in client.assetEvents() { print(event.name, event.asset?.state ?? "removed") }
  /// ```
  public func assetEvents(
    after lastEventID: String? = nil, connected: @escaping @Sendable (String) -> Void = { _ in }
  ) -> AssetEvents {
    publisherEvents(after: lastEventID, connected: connected).compactMap {
      AssetEvent(id: $0.id, text: $0.text)
    }
  }

  /// The kinds of content that there are, with the fields of each that needs no file.
  ///
  /// ```swift
  /// for type in try await client.richTypes().types {
  ///   print(type.richType, (type.form ?? []).map(\.name))
  /// }
  /// ```
  public func richTypes() async throws -> RichTypeList {
    try await value(request("GET", ["api", "types"]))
  }

  /// The state and the statistics of the server's plugins; for admins.
  ///
  /// ```swift
  /// for plugin in try await client.plugins().plugins { print(plugin.richType, plugin.state) }
  /// ```
  public func plugins() async throws -> PluginReport {
    try await value(request("GET", ["api", "plugins"]))
  }

  /// Where an asset was used: this publisher's notifications, for an admin all, with IDs below `before`; drafts and
  /// templates without `before`.
  ///
  /// ```swift
  /// let uses = try await client.assetUses("beach.jpg", richType: "img")
  /// print(uses.count ?? 0, uses.notifications.map(\.id), uses.drafts?.map(\.name) ?? [])
  /// ```
  public func assetUses(
    _ name: String, richType: String, before: Int? = nil
  ) async throws -> AssetUses {
    let query = before.map { [(name: "before", value: String($0))] } ?? []
    return try await value(
      request("GET", ["api", "assets", richType, name, "uses"], query: query))
  }

  /// What an asset had before it was replaced or removed and can be brought back, the last first.
  ///
  /// ```swift
  /// for version in try await client.assetVersions("beach.jpg", richType: "img") {
  ///   print(version.sha256, version.ended, version.bytes)
  /// }
  /// ```
  public func assetVersions(_ name: String, richType: String) async throws -> [AssetVersion] {
    let list: AssetVersionList = try await value(
      request("GET", ["api", "assets", richType, name, "versions"]))
    return list.versions
  }

  /// The assets that were removed and can be brought back, with what they had; the last removed first.
  ///
  /// ```swift
  /// for asset in try await client.removedAssets() { print(asset.richType, asset.name, asset.ended) }
  /// ```
  public func removedAssets() async throws -> [AssetVersion] {
    var assets: [AssetVersion] = []
    var next: String?
    repeat {
      let query = next.map { [(name: "after", value: $0)] } ?? []
      let page: RemovedAssetPage = try await value(
        request("GET", ["api", "removed-assets"], query: query))
      assets += page.assets
      next = page.next
    } while next != nil
    return assets
  }

  /// Brings back what an asset had before it was replaced or removed, by its SHA-256; without one what it had last.
  ///
  /// What the asset has now can be brought back, too.
  ///
  /// ```swift
  /// let asset = try await client.restoreAsset("beach.jpg", richType: "img")
  /// print(asset.sha256 ?? "")
  /// ```
  public func restoreAsset(
    _ name: String, richType: String, sha256: String? = nil
  ) async throws -> Asset {
    try await value(
      request(
        "POST", ["api", "assets", richType, name, "restore"],
        json: AssetRestoration(sha256: sha256)))
  }

  /// Gives an asset another name, with what is said of it and what it had before; sent notifications keep its content.
  ///
  /// ```swift
  /// let asset = try await client.renameAsset("beach.jpg", richType: "img", to: "sea.jpg")
  /// print(asset.name)
  /// ```
  ///
  /// - Throws: ``RichPushError`` with the status 409 if there is an asset of that name.
  public func renameAsset(
    _ name: String, richType: String, to new: String
  ) async throws -> Asset {
    try await value(
      request(
        "POST", ["api", "assets", richType, name, "rename"], json: AssetRenaming(name: new)))
  }

  /// Removes an asset; sent notifications keep its content.
  ///
  /// ```swift
  /// try await client.removeAsset("beach.jpg", richType: "img")
  /// ```
  public func removeAsset(_ name: String, richType: String) async throws {
    try await send(request("DELETE", ["api", "assets", richType, name]))
  }
}

extension URL {
  /// Why it is not a readable file, in a sentence; nil if it is.
  fileprivate var problem: String? {
    let path = path(percentEncoded: false)
    let type = try? FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType
    switch type {
    case nil: return "The file does not exist."
    case .typeDirectory: return "It is a folder; name the files in it."
    case .typeRegular:
      let isReadable = FileManager.default.isReadableFile(atPath: path)
      return isReadable ? nil : "It cannot be read: permission is denied."
    default: return "It is not a file."
    }
  }
}
