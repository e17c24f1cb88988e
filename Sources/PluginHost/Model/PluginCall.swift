/// A request to a plugin.
package struct PluginCall: Sendable {
  /// What the plugin is asked to do (`docs/PLUGINS.md`).
  package enum Verb: String, Sendable, Codable, CaseIterable {
    case validate, render, describe
  }

  /// The file that the call is about.
  package struct Asset: Sendable, Hashable {
    /// The path of a regular file that never changes.
    package var path: String
    /// The media type, detected from the file's content.
    package var type: String
    /// The SHA-256 of the content, in hexadecimal.
    package var sha256: String
    /// The size in bytes.
    package var size: Int

    /// Describes a file, which is read for its size and hash; nil if it cannot be read.
    package init?(file path: String, type: String) {
      guard let stamp = FileStamp(path), stamp.isRegularFile, let digest = SHA256.hex(ofFile: path)
      else { return nil }
      self.init(path: path, type: type, sha256: digest, size: stamp.size)
    }

    package init(path: String, type: String, sha256: String, size: Int) {
      (self.path, self.type, self.sha256, self.size) = (path, type, sha256, size)
    }
  }

  /// What the plugin is asked to do.
  package var verb: Verb
  /// The plugin that is asked.
  package var richType: String
  /// The notification's ID, for the log, and for a plugin whose manifest says `perNotification`; nil before the
  /// notification exists.
  package var id: String?
  /// The notification's message and payload.
  package var message: String
  package var payload: String
  /// The notification's file.
  package var asset: Asset?
  /// How the rendition is to look.
  package var options: PluginOptions
  /// The canonical options and the declared query names, in the order of the rendition's key.
  package var query: [(name: String, value: String)]
  /// The caller's name; the plugin gets it only if its manifest says `perUser`.
  package var user: String?
  /// The body of a `validate`: the payload as the publisher sent it.
  package var body: [UInt8]

  package init(
    verb: Verb, richType: String, id: String? = nil, message: String = "", payload: String = "",
    asset: Asset? = nil, options: PluginOptions = PluginOptions(),
    query: [(name: String, value: String)] = [], user: String? = nil, body: [UInt8] = []
  ) {
    (self.verb, self.richType, self.id) = (verb, richType, id)
    (self.message, self.payload, self.asset) = (message, payload, asset)
    (self.options, self.query, self.user, self.body) = (options, query, user, body)
  }
}

/// How a rendition is to look; nil means as the original.
package struct PluginOptions: Sendable, Hashable {
  /// The name of a device profile.
  package var profile: String?
  /// In pixels.
  package var width: Int?
  package var height: Int?
  /// `contain` or `cover`.
  package var fit: String?
  /// Device pixels for each pixel asked for.
  package var dpr: Double?
  /// The maximum size of the content, in bytes.
  package var maxBytes: Int?

  package init(
    profile: String? = nil, width: Int? = nil, height: Int? = nil, fit: String? = nil,
    dpr: Double? = nil, maxBytes: Int? = nil
  ) {
    (self.profile, self.width, self.height) = (profile, width, height)
    (self.fit, self.dpr, self.maxBytes) = (fit, dpr, maxBytes)
  }

  /// The names of the options in a query.
  package static let names: Set<String> = [
    "profile", "width", "height", "fit", "dpr", "maxBytes",
  ]
}
