import COpenSSL
import HTTP
import Media

/// Who may read `/metrics`: programs on this machine that connect to the server directly, and clients
/// that the operator allows.
struct MetricsAccess: Sendable {
  private var ranges: [IPAddressRange] = []
  private var tokens: [String] = []

  /// Reads addresses, prefixes such as `10.0.0.0/8`, and bearer tokens written `token:SECRET`.
  ///
  /// - Throws: which entry is invalid; its text is not repeated, since it may be a secret.
  init(_ entries: [String] = []) throws(OperatorError) {
    for (index, entry) in entries.enumerated() {
      let place = "--metrics-allow, entry \(index + 1) of \(entries.count)"
      if entry.hasPrefix("token:") {
        let token = String(entry.dropFirst("token:".count))
        guard token.utf8.count >= 16, token.utf8.allSatisfy(Self.isTokenByte) else {
          throw OperatorError(
            "\(place): a token has at least 16 letters, digits and characters of -._~+/=")
        }
        tokens.append(token)
      } else if let range = IPAddressRange(entry) {
        ranges.append(range)
      } else {
        throw OperatorError(
          "\(place) must be an address, a network such as 10.0.0.0/8 (with only zeros behind the "
            + "prefix), or token:SECRET")
      }
    }
  }

  /// The response to a request that may not read the metrics; nil if it may.
  func rejection(of request: Request) -> Response? {
    let isAllowed =
      request.isPeerClient
      && (IPAddress.isLoopback(request.peer) || ranges.contains { $0.contains(request.peer) })
    if isAllowed || hasToken(request.fields["Authorization"] ?? "") { return nil }
    guard tokens.isEmpty else {
      return .problem(
        401, "The metrics require a token of --metrics-allow (Authorization: Bearer).",
        fields: ["WWW-Authenticate": "Bearer realm=\"richpush metrics\""])
    }
    return .problem(
      403,
      "The metrics are only for programs that connect directly from the server's machine, and for "
        + "clients that --metrics-allow names.")
  }

  /// Whether an Authorization field has one of the tokens (RFC 6750), compared in constant time.
  private func hasToken(_ authorization: String) -> Bool {
    let parts = authorization.split(separator: " ", maxSplits: 1)
    guard parts.count == 2, parts[0].lowercased() == "bearer" else { return false }
    let given = String(parts[1])
    return tokens.contains { token in
      token.utf8.count == given.utf8.count && copenssl_equal(token, given, token.utf8.count)
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
