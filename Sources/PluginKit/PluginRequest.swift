import Primitives

/// A request of the server, read from CGI variables or FastCGI parameters.
public struct PluginRequest: Sendable {
  /// What the server asks for.
  public enum Verb: String, Sendable, CaseIterable {
    /// Check a payload and return facts about it: a notification is being created, or a file was dropped.
    case validate
    /// Render the notification's media, because no stored rendition fits a request.
    case render
    /// Return the manifest as JSON; ``serve(_:)`` answers this one from `plugin.json`.
    case describe
  }

  /// The file that a request is about: an immutable copy of the asset, readable by this plugin alone.
  public struct Asset: Sendable, Hashable {
    /// The path of a regular file that never changes.
    public let path: String
    /// The media type detected from its content, such as `image/png`; independent of the file's name.
    public let type: String
    /// The SHA-256 of the content, in hexadecimal.
    public let sha256: String
    /// The number of bytes.
    public let size: Int

    /// Creates an asset, for a plugin's own tests.
    public init(path: String, type: String, sha256: String, size: Int) {
      (self.path, self.type, self.sha256, self.size) = (path, type, sha256, size)
    }
  }

  /// What the server asks for.
  public var verb: Verb
  /// The notification's id, in a `render` of a plugin whose manifest says `perNotification`; else empty.
  public var id: String
  /// The rich type, which is the plugin's name.
  public var richType: String
  /// The notification's message.
  public var message: String
  /// What the publisher sent: an asset's name, or literal content.
  public var payload: String
  /// The asset; nil when the payload is literal content.
  public var asset: Asset?
  /// The name of the requested profile, such as `ios`.
  public var profile: String?
  /// The requested width, in pixels.
  public var width: Int?
  /// The requested height, in pixels.
  public var height: Int?
  /// How a picture fills width and height: `contain` or `cover`.
  public var fit: String?
  /// The device's pixels for each requested pixel.
  public var dpr: Double?
  /// The largest response that the caller accepts, in bytes.
  public var maxBytes: Int?
  /// Whether the operator granted the network access that the manifest asks for.
  public var hasNetwork: Bool
  /// The canonical options and the query names that the manifest declares, decoded.
  public var query: [String: String]
  /// The payload of a `validate`, as the publisher sent it; otherwise empty.
  public var body: [UInt8]
  /// How long the server waits for the response, from the start of the request.
  public var deadline: Duration?
  /// A folder for this request alone, removed after it.
  public var temporaryFolder: String

  /// Reads a request.
  ///
  /// - Parameters:
  ///   - body: The request's content.
  ///   - parameter: Returns a variable by its CGI name, such as `RICH_WIDTH`.
  /// - Throws: ``Refusal`` with status 501 for an unknown verb.
  public init(body: [UInt8] = [], parameter: (String) -> String?) throws {
    func integer(_ name: String) -> Int? { parameter(name).flatMap { Int($0) } }
    let name = parameter("RICH_VERB") ?? "render"
    guard let verb = Verb(rawValue: name) else {
      throw Refusal(status: 501, "The verb \(name) is not known to this plugin.")
    }
    (self.verb, self.body) = (verb, body)
    id = parameter("RICH_ID") ?? ""
    richType = parameter("RICH_TYPE") ?? ""
    message = parameter("RICH_MESSAGE") ?? ""
    payload = parameter("RICH_PAYLOAD") ?? ""
    asset = parameter("RICH_ASSET_PATH").map { path in
      Asset(
        path: path, type: parameter("RICH_ASSET_TYPE") ?? "application/octet-stream",
        sha256: parameter("RICH_ASSET_SHA256") ?? "", size: integer("RICH_ASSET_SIZE") ?? 0)
    }
    profile = parameter("RICH_PROFILE")
    width = integer("RICH_WIDTH")
    height = integer("RICH_HEIGHT")
    fit = parameter("RICH_FIT")
    dpr = parameter("RICH_DPR").flatMap { Double($0) }
    maxBytes = integer("RICH_MAX_BYTES")
    hasNetwork = parameter("RICH_NETWORK") == "1"
    query = Self.query(parameter("QUERY_STRING") ?? "")
    deadline = integer("RICH_DEADLINE_MS").map { .milliseconds($0) }
    temporaryFolder = parameter("TMPDIR") ?? "/tmp"
  }

  /// The pairs of a query, which CGI passes encoded (RFC 3875 section 4.1.7); of two with one name the last
  /// counts.
  private static func query(_ text: String) -> [String: String] {
    func decoded(_ text: Substring) -> String {
      PercentEncoding.decode(text.utf8.span, decodesPlusAsSpace: true) ?? String(text)
    }
    let pairs = text.split(separator: "&").map { pair in
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return (decoded(parts[0]), parts.count > 1 ? decoded(parts[1]) : "")
    }
    return Dictionary(pairs) { $1 }
  }
}
