import Glibc

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
  /// The rich type whose plugin is called.
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
  /// Device pixels per requested pixel.
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

/// A file that belongs to one reply: it is removed with the last copy of this value, unless it was renamed.
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
