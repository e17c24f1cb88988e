/// One question of the server's, read from the CGI variables or FastCGI parameters that carry it.
public struct PluginRequest: Sendable {
  /// What is asked.
  public var verb: Verb
  /// The notification's id; empty when a dropped file is validated.
  public var id: String
  /// The rich type asked for, which is the plugin's name.
  public var richType: String
  /// The notification's message.
  public var message: String
  /// What the publisher named: an asset's name, or literal content.
  public var payload: String
  /// The pinned file, unless the payload is literal content.
  public var asset: Asset?
  /// The name of the profile asked for, such as `ios`.
  public var profile: String?
  /// The width wanted, in pixels.
  public var width: Int?
  /// The height wanted, in pixels.
  public var height: Int?
  /// How a picture fills width and height: `contain` or `cover`.
  public var fit: String?
  /// Pixels of the device for each pixel asked for.
  public var dpr: Double?
  /// The most bytes the caller can take.
  public var maxBytes: Int?
  /// Whether the operator granted the network that the manifest asks for.
  public var hasNetwork: Bool
  /// The canonical options and the query names that the manifest declares, decoded.
  public var query: [String: String]
  /// The payload of a `validate`, byte for byte; empty otherwise.
  public var body: [UInt8]
  /// How long the server waits for the answer, from the start of the request.
  public var deadline: Duration?
  /// A folder of this request's own, removed afterwards.
  public var temporaryFolder: String

  /// Reads a request.
  ///
  /// - Parameters:
  ///   - body: The content that came with it.
  ///   - parameter: Looks a variable up by its CGI name, such as `RICH_WIDTH`.
  /// - Throws: ``Refusal`` with status 501 for a verb this version does not know.
  public init(body: [UInt8] = [], parameter: (String) -> String?) throws {
    let name = parameter("RICH_VERB") ?? "render"
    guard let verb = Verb(rawValue: name) else {
      throw Refusal(status: 501, "The verb \(name) is not known to this plugin.")
    }
    self.verb = verb
    self.body = body
    id = parameter("RICH_ID") ?? ""
    richType = parameter("RICH_TYPE") ?? ""
    message = parameter("RICH_MESSAGE") ?? ""
    payload = parameter("RICH_PAYLOAD") ?? ""
    asset = parameter("RICH_ASSET_PATH").map { path in
      Asset(
        path: path, type: parameter("RICH_ASSET_TYPE") ?? "application/octet-stream",
        sha256: parameter("RICH_ASSET_SHA256") ?? "",
        size: parameter("RICH_ASSET_SIZE").flatMap { Int($0) } ?? 0)
    }
    profile = parameter("RICH_PROFILE")
    width = parameter("RICH_WIDTH").flatMap { Int($0) }
    height = parameter("RICH_HEIGHT").flatMap { Int($0) }
    fit = parameter("RICH_FIT")
    dpr = parameter("RICH_DPR").flatMap { Double($0) }
    maxBytes = parameter("RICH_MAX_BYTES").flatMap { Int($0) }
    hasNetwork = parameter("RICH_NETWORK") == "1"
    query = QueryString.decoded(parameter("QUERY_STRING") ?? "")
    deadline = parameter("RICH_DEADLINE_MS").flatMap { Int($0) }.map { .milliseconds($0) }
    temporaryFolder = parameter("TMPDIR") ?? "/tmp"
  }
}
