import Glibc

/// A plugin's response, complete and checked against its manifest.
package struct PluginReply: Sendable {
  /// Where the content is.
  package enum Body: Sendable {
    /// In memory, because it is small.
    case bytes([UInt8])
    /// In a file that belongs to the reply.
    case file(SpooledFile)
    /// The call's asset, unchanged.
    case asset
  }

  /// The media type, one that the manifest's `produces` covers; empty for a redirect.
  package let contentType: String
  /// The other header fields that a plugin may set, such as `Content-Disposition`.
  package let fields: [(name: String, value: String)]
  /// The content; empty for a redirect.
  package let body: Body
  /// The absolute URL of a redirect (302); nil for content (200).
  package let location: String?
  /// Whether the reply may be stored and given to others: it is content without `Cache-Control: no-store` or
  /// `private`.
  package let isStorable: Bool

  init(
    contentType: String, body: Body, fields: [(name: String, value: String)] = [],
    isStorable: Bool = true
  ) {
    (self.contentType, self.body, self.fields) = (contentType, body, fields)
    (location, self.isStorable) = (nil, isStorable)
  }

  init(redirectTo location: String, fields: [(name: String, value: String)]) {
    (contentType, body, self.fields) = ("", .bytes([]), fields)
    (self.location, isStorable) = (location, false)
  }

  /// The host's own reply for a verb that the plugin's manifest does not list: any asset of an accepted
  /// type is valid, and is rendered as it is.
  static func `default`(to call: PluginCall, of plugin: Plugin) throws(PluginError) -> PluginReply {
    switch call.verb {
    case .validate:
      if let type = call.asset?.type, !plugin.accepts(type) {
        let ranges = plugin.manifest.accepts.joined(separator: ", ")
        throw PluginError(
          .unsupportedMediaType,
          "The file is \(type); the rich type \(plugin.richType) takes \(ranges).")
      }
      let type = call.asset.map { "\"contentType\":\"\($0.type)\"" } ?? ""
      return PluginReply(contentType: "application/json", body: .bytes(Array("{\(type)}".utf8)))
    case .render:
      guard let asset = call.asset else {
        return PluginReply(
          contentType: "text/plain; charset=utf-8", body: .bytes(Array(call.payload.utf8)))
      }
      return PluginReply(contentType: asset.type, body: .asset)
    case .describe:
      throw PluginError(
        .unsupportedVerb, "The plugin does not describe itself.", cause: "it has no verb describe")
    }
  }
}

/// A file that belongs to one reply: it is removed with the last copy of this value, unless somebody has
/// renamed it to keep it.
package struct SpooledFile: Sendable {
  private final class Owner: Sendable {
    private let path: String
    init(path: String) { self.path = path }
    deinit { unlink(path) }
  }

  /// The path, on the file system of the host's temporary folder.
  package let path: String
  /// The size in bytes.
  package internal(set) var size: Int
  private let owner: Owner

  init(path: String, size: Int) {
    (self.path, self.size) = (path, size)
    owner = Owner(path: path)
  }
}
