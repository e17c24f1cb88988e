import PluginHost
import Store

/// What a rendition is made of: a notification, or one that is about to be.
struct Subject: Sendable {
  let richType: String
  let message: String
  let payload: String
  var id: Int?
  /// The pinned file; nil when the payload is literal content.
  var pinned: Pinned?

  /// What names the content: literal content goes with its message, since a plugin may show both.
  var content: String { pinned?.digest.hex ?? payload + "\0" + message }

  /// The pinned file as a plugin gets it.
  var asset: PluginCall.Asset? {
    pinned.map {
      PluginCall.Asset(path: $0.path, type: $0.type, sha256: $0.digest.hex, size: $0.size)
    }
  }
}

/// A blob with the facts that its bytes showed.
struct Pinned: Sendable, Hashable {
  let digest: Digest
  let size: Int
  let type: String
  let path: String
}
