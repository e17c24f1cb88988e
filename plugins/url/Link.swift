import CCurl
import PluginKit

/// An absolute `http` or `https` URL.
///
/// libcurl parses it, because libcurl also fetches it, so that check and use cannot differ. What browsers
/// parse differently (backslashes, spaces, control characters) is refused before.
struct Link {
  /// The whole link in ASCII: the host in Punycode, the path percent-encoded.
  let url: String
  /// The host in ASCII, in lower case, an IPv6 address in brackets.
  let host: HostName
  /// The port in the URL, or that of the scheme.
  let port: Int

  private static let longest = 2048

  init(_ text: String) throws(Refusal) {
    var text = text[...]
    while text.last?.isWhitespace == true { text.removeLast() }
    guard text.utf8.count <= Self.longest else {
      throw Refusal("The link has \(text.utf8.count) bytes; phones take \(Self.longest).")
    }
    if let bad = text.unicodeScalars.first(where: Self.isForbidden) {
      let digits = String(bad.value, radix: 16, uppercase: true)
      let code = String(repeating: "0", count: max(0, 4 - digits.count)) + digits
      throw Refusal(
        "The link has a character that no web address has (U+\(code)). Copy it from a browser.")
    }
    let parts = URLParts()
    guard parts.parse(String(text)), let scheme = parts.get(CURLUPART_SCHEME) else {
      throw Refusal(
        "This is not a web address, such as https://example.com/. Copy it from a browser.")
    }
    guard scheme == "http" || scheme == "https" else {
      throw Refusal("The link's scheme is \(scheme); only http and https are opened on phones.")
    }
    guard parts.get(CURLUPART_USER) == nil, parts.get(CURLUPART_PASSWORD) == nil else {
      throw Refusal(
        "The link holds a user name or password; everybody it is pushed to would see it.")
    }
    guard let name = parts.get(CURLUPART_HOST, UInt32(CURLU_PUNYCODE)) else {
      throw Refusal("The link's host is not a name that can be looked up.")
    }
    host = try HostName(ascii: name)
    guard parts.set(CURLUPART_HOST, host.ascii), let url = parts.get(CURLUPART_URL),
      let port = parts.get(CURLUPART_PORT, UInt32(CURLU_DEFAULT_PORT)).flatMap({ Int($0) })
    else { throw Refusal("The link's host \(host.ascii) is not a valid name.") }
    // Without its last dot a name can be an address: “1.” would become “1”, which is 0.0.0.1.
    let again = URLParts()
    guard again.parse(url), again.get(CURLUPART_HOST) == host.ascii else {
      throw Refusal("The link's host \(name.prefix(80)) is not a valid name.")
    }
    // libcurl 7.88 encodes path and query, but not the fragment.
    self.url = url.utf8.map {
      $0 < 0x80 ? String(Unicode.Scalar($0)) : "%" + String($0, radix: 16)
    }.joined()
    self.port = port
  }

  /// Characters that RFC 3986 excludes, and invisible ones, which only serve to deceive.
  private static func isForbidden(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .spaceSeparator, .privateUse,
      .surrogate, .unassigned:
      true
    default: "\"<>\\^`{|}".unicodeScalars.contains(scalar)
    }
  }
}

/// A URL of libcurl (curl_url(3)).
struct URLParts: ~Copyable {
  private let handle = curl_url()

  deinit { curl_url_cleanup(handle) }

  func parse(_ text: String) -> Bool {
    let flags = CURLU_NON_SUPPORT_SCHEME | CURLU_URLENCODE
    return curl_url_set(handle, CURLUPART_URL, text, UInt32(flags)) == CURLUE_OK
  }

  func set(_ part: CURLUPart, _ text: String) -> Bool {
    curl_url_set(handle, part, text, 0) == CURLUE_OK
  }

  func get(_ part: CURLUPart, _ flags: UInt32 = 0) -> String? {
    var text: UnsafeMutablePointer<CChar>?
    guard curl_url_get(handle, part, &text, flags) == CURLUE_OK, let text else { return nil }
    defer { curl_free(text) }
    return String(cString: text)
  }
}
