import CGnuTLS
import HTTP

/// Who may read `/metrics`: programs on this machine that connect to the server themselves, and whom
/// the operator adds.
struct MetricsAccess: Sendable {
  private var ranges: [IPAddressRange] = []
  private var tokens: [String] = []

  /// Reads addresses, prefixes such as `10.0.0.0/8`, and bearer tokens written `token:SECRET`.
  ///
  /// - Throws: what is wrong with which entry; it is not repeated, since it may be a secret.
  init(_ entries: [String] = []) throws(ConfigurationError) {
    for (index, entry) in entries.enumerated() {
      let place = "--metrics-allow, entry \(index + 1) of \(entries.count)"
      if entry.hasPrefix("token:") {
        let token = String(entry.dropFirst("token:".count))
        guard token.utf8.count >= 16, token.utf8.allSatisfy(Self.isTokenByte) else {
          throw ConfigurationError(
            "\(place): a token has at least 16 characters, of letters, digits and -._~+/=")
        }
        tokens.append(token)
      } else if let range = IPAddressRange(entry) {
        ranges.append(range)
      } else {
        throw ConfigurationError(
          "\(place) is none of these: an address, a prefix such as 10.0.0.0/8 with only zeros "
            + "behind it, or token: and a secret")
      }
    }
  }

  /// The answer to a request that may not read the measurements; nil when it may.
  func refusal(of request: Request) -> Response? {
    let isNear =
      request.isPeerClient
      && (IPAddress.isLoopback(request.peer) || ranges.contains { $0.contains(request.peer) })
    if isNear || bears(request.fields["Authorization"] ?? "") { return nil }
    guard tokens.isEmpty else {
      return .problem(
        401, "The measurements take one of the tokens of --metrics-allow (Authorization: Bearer).",
        fields: ["WWW-Authenticate": "Bearer realm=\"richpush metrics\""])
    }
    return .problem(
      403,
      "The measurements are for programs on the server's machine that connect to it "
        + "directly, and for whom --metrics-allow names.")
  }

  /// Whether an Authorization field holds one of the tokens (RFC 6750), compared in constant time.
  private func bears(_ authorization: String) -> Bool {
    let parts = authorization.split(separator: " ", maxSplits: 1)
    guard parts.count == 2, parts[0].lowercased() == "bearer" else { return false }
    let given = String(parts[1])
    return tokens.contains { token in
      token.utf8.count == given.utf8.count && gnutls_memcmp(token, given, token.utf8.count) == 0
    }
  }

  /// RFC 6750, section 2.1.
  private static func isTokenByte(_ byte: UInt8) -> Bool {
    switch Unicode.Scalar(byte) {
    case "a"..."z", "A"..."Z", "0"..."9", "-", ".", "_", "~", "+", "/", "=": true
    default: false
    }
  }
}
