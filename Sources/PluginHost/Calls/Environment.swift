/// The variables of a call that are its own, built from nothing (design section 3, RFC 3875
/// section 4.1); ``Workplace/environment(of:scratch:)`` has the others.
///
/// Nothing of a client's header gets in: the whole family of `HTTP_PROXY` attacks has no way.
struct Environment {
  private(set) var variables: [(name: String, value: String)] = []

  init(
    of call: PluginCall, asset: PluginCall.Asset?, plugin: Plugin
  ) throws(PluginError) {
    variables.reserveCapacity(32)
    addRequest(call, plugin)
    addCall(call, asset)
    addOptions(call.options)
    // All else is the server's own, or escaped.
    guard ![call.message, call.payload, call.user ?? ""].contains(where: { $0.utf8.contains(0) })
    else {
      throw PluginError(status: 422, reason: "The message or payload contains a NUL character.")
    }
  }

  /// What every process gets, resident ones too.
  static let usual = [
    ("PATH", "/usr/local/bin:/usr/bin:/bin"), ("LANG", "C.UTF-8"), ("TZ", "UTC"),
    ("SWIFT_BACKTRACE", "enable=no"),
  ]

  private mutating func add(_ name: String, _ value: String?) {
    if let value { variables.append((name, value)) }
  }

  private mutating func addRequest(_ call: PluginCall, _ plugin: Plugin) {
    let method =
      switch call.verb {
      case .validate: "POST"
      case .render: "GET"
      case .describe: "OPTIONS"
      }
    add("REQUEST_METHOD", method)
    add("PATH_INFO", call.id.map { "/" + $0 } ?? "")
    let declared = call.query.filter { item in
      plugin.manifest.query.contains(item.name) || PluginOptions.names.contains(item.name)
    }
    add("QUERY_STRING", Environment.queryString(declared))
    if call.verb == .validate {
      add("CONTENT_LENGTH", String(call.body.count))
      add("CONTENT_TYPE", call.asset?.type ?? "text/plain; charset=utf-8")
    }
    if plugin.manifest.perUser, let user = call.user {
      add("AUTH_TYPE", "Basic")
      add("REMOTE_USER", user)
    }
  }

  private mutating func addCall(_ call: PluginCall, _ asset: PluginCall.Asset?) {
    add("RICH_VERB", call.verb.rawValue)
    add("RICH_ID", call.id)
    add("RICH_MESSAGE", call.message)
    add("RICH_PAYLOAD", call.payload)
    if let asset {
      add("RICH_ASSET_PATH", asset.path)
      add("RICH_ASSET_TYPE", asset.type)
      add("RICH_ASSET_SHA256", asset.sha256)
      add("RICH_ASSET_SIZE", String(asset.size))
    }
  }

  private mutating func addOptions(_ options: PluginOptions) {
    add("RICH_PROFILE", options.profile)
    add("RICH_WIDTH", options.width.map { String($0) })
    add("RICH_HEIGHT", options.height.map { String($0) })
    add("RICH_FIT", options.fit)
    add("RICH_DPR", options.dpr.map { String($0) })
    add("RICH_MAX_BYTES", options.maxBytes.map { String($0) })
  }

  private static func queryString(_ items: [(name: String, value: String)]) -> String {
    if items.isEmpty { return "" }
    return items.map { "\(escaped($0.name))=\(escaped($0.value))" }.joined(separator: "&")
  }

  /// Percent-encodes all but the unreserved characters (RFC 3986 section 2.3).
  private static func escaped(_ text: String) -> String {
    text.utf8.reduce(into: "") { text, byte in
      let character = Character(Unicode.Scalar(byte))
      if character.isASCII, character.isLetter || character.isNumber || "-._~".contains(character) {
        text.append(character)
      } else {
        let digits = String(byte, radix: 16, uppercase: true)
        text += byte < 16 ? "%0\(digits)" : "%\(digits)"
      }
    }
  }
}
