/// One question to a plugin.
package struct PluginCall: Sendable {
  /// What is asked (design section 3).
  package enum Verb: String, Sendable, Codable, CaseIterable {
    case validate, render, describe
  }

  /// The pinned file the call is about.
  package struct Asset: Sendable, Hashable {
    /// The path of a regular file that never changes.
    package var path: String
    /// Its sniffed media type.
    package var type: String
    /// Its SHA-256 in hexadecimal.
    package var sha256: String
    /// Its size in bytes.
    package var size: Int

    /// Names a file and reads the rest of it; nil when it cannot be read.
    package init?(file path: String, type: String) {
      guard let stamp = FileStamp(path), stamp.isRegularFile,
        let digest = Inventory.digest(ofFile: path)
      else { return nil }
      self.init(path: path, type: type, sha256: digest, size: stamp.size)
    }

    /// Names a file.
    package init(path: String, type: String, sha256: String, size: Int) {
      self.path = path
      self.type = type
      self.sha256 = sha256
      self.size = size
    }
  }

  /// What is asked.
  package var verb: Verb
  /// The plugin that is asked.
  package var richType: String
  /// The notification's id; nil when a dropped file is validated.
  package var id: String?
  package var message: String
  package var payload: String
  package var asset: Asset?
  package var options: PluginOptions
  /// The canonical options and the declared query names, in the order they enter the rendition's key.
  package var query: [(name: String, value: String)]
  /// The caller's name; the plugin learns it only when its manifest says `perUser`.
  package var user: String?
  /// The content of a `validate`: the payload as the publisher sent it.
  package var body: [UInt8]

  /// Asks a plugin; what is left out is not said to it.
  package init(
    verb: Verb, richType: String, id: String? = nil, message: String = "", payload: String = "",
    asset: Asset? = nil, options: PluginOptions = PluginOptions(),
    query: [(name: String, value: String)] = [], user: String? = nil, body: [UInt8] = []
  ) {
    self.verb = verb
    self.richType = richType
    self.id = id
    self.message = message
    self.payload = payload
    self.asset = asset
    self.options = options
    self.query = query
    self.user = user
    self.body = body
  }
}
