/// A request as its responder sees it: the head, checked; the body stays behind until it is asked for.
package final class Request: Sendable {
  /// GET, HEAD, POST, PUT, DELETE, PATCH, OPTIONS, TRACE or QUERY; others were refused.
  package let method: String
  /// The request target as it was received.
  package let target: String
  /// The path split at "/" and then decoded once; "/" has none, "/a/" has "a" and "".
  package let segments: [String]
  package let query: Query
  package let fields: Fields
  /// The address of the other side, without its port.
  package let peer: String
  /// Whether the request came over TLS.
  package let isSecure: Bool
  private let isPeerNamed: Bool
  package let body: Body
  /// The name that the client gave it (X-Request-Id), if it can stand in a log.
  package let givenID: String?
  private let serial: UInt64

  /// What names the request in answers and logs: the client's name for it, or one of ours.
  package var id: String { givenID ?? Self.name(serial) }

  /// Whether `peer` is surely the client: a trusted proxy has named it, or nothing in the head says
  /// that a proxy has forwarded the request.
  package var isPeerKnown: Bool {
    isPeerNamed
      || !fields.items.contains { name, _ in
        let name = name.lowercased()
        return name.hasPrefix("x-forwarded-") || ["forwarded", "via", "x-real-ip"].contains(name)
      }
  }

  /// What the head says about the body that follows it.
  package enum Body: Sendable, Equatable {
    case none
    /// So many bytes (Content-Length).
    case sized(Int)
    /// Nobody knows yet how many (Transfer-Encoding: chunked).
    case chunked
  }

  /// A request from its parts.
  ///
  /// - Parameters:
  ///   - method: one of the methods above.
  ///   - target: path and query, percent-encoded.
  ///   - fields: the header fields.
  ///   - peer: the address of the other side.
  ///   - isSecure: whether it came over TLS.
  ///   - isPeerNamed: whether a trusted proxy has named `peer`.
  ///   - body: what follows the head.
  ///   - serial: what no other request has, for its name.
  /// - Throws: `Refusal` when the target is not one that the server would let through.
  package init(
    _ method: String = "GET", _ target: String, fields: Fields = Fields(),
    peer: String = "127.0.0.1", isSecure: Bool = false, isPeerNamed: Bool = false,
    body: Body = .none, serial: UInt64 = 0
  ) throws(Refusal) {
    guard target != "*" || method == "OPTIONS" else {
      throw Refusal(400, "Only OPTIONS may ask for \"*\".")
    }
    let parsed = try Target(target)
    self.method = method
    self.target = target
    segments = parsed.segments
    query = parsed.query
    self.fields = fields
    self.peer = peer
    self.isSecure = isSecure
    self.isPeerNamed = isPeerNamed
    self.body = body
    self.serial = serial
    givenID = fields["X-Request-Id"].flatMap { Self.isName($0) ? $0 : nil }
  }

  /// 16 hexadecimal digits.
  static func name(_ serial: UInt64) -> String {
    let digits = String(serial, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  private static func isName(_ text: String) -> Bool {
    (1...128).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        switch Unicode.Scalar(byte) {
        case "a"..."z", "A"..."Z", "0"..."9", "-", "_", ".", ":", "/", "+", "=": true
        default: false
        }
      }
  }
}
