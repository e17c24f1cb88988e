/// A request as its responder sees it: the head, checked; the body stays behind until it is asked for.
package struct Request: Sendable {
  /// GET, HEAD, POST, PUT, DELETE, PATCH or OPTIONS; others were refused.
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
  package let body: Body

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
  ///   - body: what follows the head.
  /// - Throws: `Refusal` when the target is not one that the server would let through.
  package init(
    _ method: String = "GET", _ target: String, fields: Fields = Fields(),
    peer: String = "127.0.0.1", isSecure: Bool = false, body: Body = .none
  ) throws(Refusal) {
    let parsed = try Target(target)
    self.method = method
    self.target = target
    segments = parsed.segments
    query = parsed.query
    self.fields = fields
    self.peer = peer
    self.isSecure = isSecure
    self.body = body
  }
}
