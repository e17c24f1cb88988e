import Primitives

/// A request as its responder sees it: a validated head; the body is not read until a plan asks for it.
package final class Request: Sendable {
  /// GET, HEAD, POST, PUT, DELETE, PATCH, OPTIONS, TRACE or QUERY; others are rejected with 501.
  package let method: String
  /// The request target as received.
  package let target: String
  /// The path, split at "/" and then decoded once: none for "/", "a" and "" for "/a/".
  package let segments: [String]
  package let query: Query
  package let fields: Fields
  /// The address of the client, or of an untrusted proxy in front of it, without a port.
  package let peer: String
  /// Whether the request was sent over TLS.
  package let isSecure: Bool
  private let isPeerForwarded: Bool
  /// How the body that follows the head is framed.
  package let body: Body
  /// The client's own ID of the request (X-Request-Id), if it is safe to log.
  package let clientRequestID: String?
  private let serial: UInt64

  /// The request's ID in responses and logs: the client's own, or one made by the server.
  package var id: String { clientRequestID ?? Self.id(serial) }

  /// Whether `peer` is certainly the client: a trusted proxy named it, or no header field indicates
  /// a proxy.
  package var isPeerClient: Bool {
    isPeerForwarded
      || !fields.items.contains { name, _ in
        let name = name.lowercased()
        return name.hasPrefix("x-forwarded-") || ["forwarded", "via", "x-real-ip"].contains(name)
      }
  }

  /// How the length of a body is known (RFC 9112, section 6.3).
  package enum Body: Sendable, Equatable {
    case none
    /// So many bytes (Content-Length).
    case sized(Int)
    /// Until the last chunk (Transfer-Encoding: chunked).
    case chunked
  }

  /// Makes a request from its parts.
  ///
  /// - Parameters:
  ///   - method: one of the methods above.
  ///   - target: path and query, percent-encoded.
  ///   - fields: the header fields.
  ///   - peer: the address of the client.
  ///   - isSecure: whether it was sent over TLS.
  ///   - isPeerForwarded: whether a trusted proxy named `peer`.
  ///   - body: how the body is framed.
  ///   - serial: unique per request; the server's own request ID is derived from it.
  /// - Throws: `HTTPError` 400 or 414 if the target is invalid.
  package init(
    _ method: String = "GET", _ target: String, fields: Fields = Fields(),
    peer: String = "127.0.0.1", isSecure: Bool = false, isPeerForwarded: Bool = false,
    body: Body = .none, serial: UInt64 = 0
  ) throws(HTTPError) {
    guard target != "*" || method == "OPTIONS" else {
      throw HTTPError(400, "The target \"*\" is only valid with OPTIONS.")
    }
    let parsed = try RequestTarget(target)
    (self.method, self.target, self.fields, self.body) = (method, target, fields, body)
    (segments, query) = (parsed.segments, parsed.query)
    (self.peer, self.isPeerForwarded, self.isSecure) = (peer, isPeerForwarded, isSecure)
    self.serial = serial
    clientRequestID = fields["X-Request-Id"].flatMap { Self.isSafeID($0) ? $0 : nil }
  }

  /// The serial number as 16 hexadecimal digits.
  static func id(_ serial: UInt64) -> String {
    let digits = String(serial, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  private static func isSafeID(_ text: String) -> Bool {
    (1...128).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        switch Unicode.Scalar(byte) {
        case "a"..."z", "A"..."Z", "0"..."9", "-", "_", ".", ":", "/", "+", "=": true
        default: false
        }
      }
  }
}

/// The decoded `name=value` pairs of a query, in order.
package struct Query: Sendable {
  /// The pairs; a name without "=" has an empty value.
  package let items: [(name: String, value: String)]

  /// A query of these pairs.
  package init(_ items: [(name: String, value: String)] = []) { self.items = items }

  /// The value of the first pair with this name.
  package subscript(_ name: String) -> String? { items.first { $0.name == name }?.value }

  /// Decodes what follows the "?"; nil for an invalid escape, a NUL or bytes that are not UTF-8.
  package init?(encoded: Span<UInt8>) {
    var items: [(name: String, value: String)] = []
    var start = 0
    for end in 0...encoded.count
    where end == encoded.count || encoded[end] == UInt8(ascii: "&") {
      defer { start = end + 1 }
      guard start < end else { continue }
      var separator = start
      while separator < end, encoded[separator] != UInt8(ascii: "=") { separator += 1 }
      let name = encoded.extracting(start..<separator)
      let value = encoded.extracting(min(separator + 1, end)..<end)
      guard let name = PercentEncoding.decode(name, decodesPlusAsSpace: true),
        let value = PercentEncoding.decode(value, decodesPlusAsSpace: true)
      else { return nil }
      items.append((name, value))
    }
    self.items = items
  }
}

/// A parsed request target in origin, absolute or asterisk form (RFC 9112, section 3.2).
struct RequestTarget {
  /// The longest target in bytes; longer ones are rejected with 414.
  // RFC 9112, section 3 recommends 8,000; with 3,000, and 6 KiB of fields, a head fits into the
  // receive buffer of 16 KiB.
  static let maximumLength = 3000

  let segments: [String]
  let query: Query

  /// Splits the path at "/" and the query at "&", and only then decodes the parts.
  ///
  /// - Parameter raw: the target as in the request line.
  /// - Throws: 400 for what no valid request line holds, 414 if it is too long.
  init(_ raw: String) throws(HTTPError) {
    let bytes = raw.utf8.span
    guard bytes.count <= Self.maximumLength else {
      throw HTTPError(414, "The request target is longer than \(Self.maximumLength) bytes.")
    }
    var queryMark = bytes.count
    for index in bytes.indices.reversed() {
      let byte = bytes[index]
      guard byte > 0x20, byte < 0x7F, byte != UInt8(ascii: "#") else {
        throw HTTPError(400, "The request target holds characters that must be percent-encoded.")
      }
      if byte == UInt8(ascii: "?") { queryMark = index }
    }
    let start = try Self.startOfPath(raw)
    guard let segments = Self.segments(bytes.extracting(min(start + 1, queryMark)..<queryMark)),
      let query = queryMark == bytes.count
        ? Query() : Query(encoded: bytes.extracting((queryMark + 1)..<bytes.count))
    else {
      throw HTTPError(
        400, "The request target holds an invalid percent-escape, a NUL or text that is not UTF-8.")
    }
    self.segments = segments
    self.query = query
  }

  /// The offset of the path's first "/", or where it would be in "http://host?query".
  private static func startOfPath(_ raw: String) throws(HTTPError) -> Int {
    if raw.utf8.first == UInt8(ascii: "/") || raw == "*" { return 0 }
    for scheme in ["http://", "https://"] where raw.lowercased().hasPrefix(scheme) {
      let rest = raw.utf8.dropFirst(scheme.utf8.count)
      let end = rest.firstIndex { "/?".utf8.contains($0) } ?? rest.endIndex
      return raw.utf8.distance(from: raw.startIndex, to: end)
    }
    throw HTTPError(400, "The request target must begin with \"/\".")
  }

  private static func segments(_ path: Span<UInt8>) -> [String]? {
    guard !path.isEmpty else { return [] }
    var segments: [String] = []
    segments.reserveCapacity(4)
    var start = 0
    for index in 0...path.count where index == path.count || path[index] == UInt8(ascii: "/") {
      guard let segment = PercentEncoding.decode(path.extracting(start..<index)) else {
        return nil
      }
      segments.append(segment)
      start = index + 1
    }
    return segments
  }
}
