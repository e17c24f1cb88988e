import FoundationEssentials
import MediaTypes
package import PluginHost
package import Store

/// A request for a rendition: a source, options, and the version of the plugin.
package struct RenditionRequest: Sendable {
  package let source: RenditionSource
  package let options: RenditionOptions
  package let plugin: Plugin
  /// The caller's name; empty if the rendition is the same for all users.
  package let user: String
  /// The key of the stored rendition: a hash of everything that its content may depend on.
  package let key: Digest
  /// Identifies what it is made of, and the user whom it is for if it is for one.
  let sources: [Digest]

  /// Creates a request; `owner` is the caller's ID for plugins that render for each user.
  package init(
    source: RenditionSource, options: RenditionOptions, plugin: Plugin, user: String = "",
    owner: UserID? = nil
  ) {
    let options = options.cropped(around: source.focus, by: plugin)
    (self.source, self.options, self.plugin, self.user) = (source, options, plugin, user)
    let items = options.items.map { "\($0.name)=\($0.value)" }.joined(separator: "\0")
    let caller = plugin.manifest.perUser ? "\(owner?.rawValue ?? 0) \(user)" : ""
    var parts = [plugin.identity, source.richType, source.material, items, caller]
    if plugin.manifest.perNotification, let id = source.id { parts.append(String(id)) }
    key = Digest(of: parts.joined(separator: "\u{1}"))
    let person = plugin.manifest.perUser ? owner.map(Rendition.source(ofUser:)) : nil
    sources = [source.digest] + (person.map { [$0] } ?? [])
  }

  /// The plugin call that renders it.
  var call: PluginCall {
    PluginCall(
      verb: .render, richType: source.richType, id: source.id.map(String.init),
      message: source.message, payload: source.payload, asset: source.asset,
      options: options.limits, query: options.items, user: user)
  }

  /// The suggested file name for a device that saves it, with the extension of its media type.
  func fileName(_ mediaType: String) -> String {
    let stem = source.pinned == nil ? source.richType : source.payload
    let name = stem.lastIndex(of: ".").map { String(stem[..<$0]) } ?? stem
    return MediaType(mediaType).map { "\(name).\($0.fileExtension)" } ?? name
  }
}

/// What a rendition is made of: the content of a notification, which may not exist yet.
package struct RenditionSource: Sendable {
  package let richType: String
  package let message: String
  package var payload: String
  package let id: Int?
  /// The file that the payload names; nil if the payload is literal content.
  package var pinned: PinnedAsset?
  /// The point that crops keep if their request names none, such as `0.5,0.3`.
  package var focus: String?

  /// Creates the source of a notification; `id` is nil if it does not exist yet.
  package init(
    richType: String, message: String, payload: String, id: Int? = nil, pinned: PinnedAsset? = nil,
    focus: String? = nil
  ) {
    self.focus = focus
    (self.richType, self.message, self.payload) = (richType, message, payload)
    (self.id, self.pinned) = (id, pinned)
  }

  /// The source of a stored notification.
  package init(_ notification: StoredNotification, in store: Store) {
    (richType, message) = (notification.richType, notification.message)
    (payload, id, focus) = (notification.payload, notification.id, notification.focus)
    pinned = notification.blob.map { blob in
      PinnedAsset(blob, type: notification.blobType ?? "application/octet-stream", in: store)
    }
  }

  /// Identifies the content, with its focus.
  package var content: String { material + (focus.map { "\0" + $0 } ?? "") }

  /// Identifies the content where a rendition is stored.
  var digest: Digest { Rendition.source(of: pinned?.digest, payload: payload, message: message) }

  /// For literal content with the message, since a plugin may show both.
  fileprivate var material: String { pinned?.digest.hex ?? payload + "\0" + message }

  /// The file for the plugin.
  var asset: PluginCall.Asset? {
    pinned.map {
      PluginCall.Asset(path: $0.path, type: $0.type, sha256: $0.digest.hex, size: $0.size)
    }
  }
}

/// A blob with its detected media type.
package struct PinnedAsset: Sendable, Hashable {
  package let digest: Digest
  /// In bytes.
  package let size: Int
  package let type: String
  package let path: String
}

extension PinnedAsset {
  /// Describes a blob of the store.
  package init(_ blob: Blob, type: String, in store: Store) {
    (digest, size, self.type) = (blob.digest, blob.size, type)
    path = store.blobs.path(of: blob.digest)
  }
}
