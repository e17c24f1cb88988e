/// Writes the head of a response (RFC 9112, section 4) in two parts.
///
/// The first part is the same for every request and can be cached; the second depends on the time and
/// the connection.
enum ResponseHead {
  /// How the client knows where the body ends (RFC 9112, section 6.3).
  enum Framing {
    case length(Int)
    case chunked
    /// There is no body, or it ends with the connection.
    case none
  }

  /// What happens to the connection after the response (RFC 9112, section 9.3); for HTTP/1.0 clients
  /// a Connection field must say that it is kept open.
  enum Persistence: Int, CaseIterable { case keptOpen, keptOpenForHTTP10, closed }

  /// Status line and fields, to be followed by an end.
  static func bytes(_ status: Int, _ fields: Fields, _ framing: Framing) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(512)
    bytes += "HTTP/1.1 \(status) \(ProblemDetails.reasonPhrase(of: status))\r\n".utf8
    fields.write(to: &bytes)
    switch framing {
    case .length(let size): bytes += "Content-Length: \(size)\r\n".utf8
    case .chunked: bytes += "Transfer-Encoding: chunked\r\n".utf8
    case .none: break
    }
    if fields[Fields.resourcePolicy] == nil {
      bytes += "\(Fields.resourcePolicy): same-origin\r\n".utf8
    }
    bytes += "X-Content-Type-Options: nosniff\r\n".utf8
    return bytes
  }

  /// The end of a head: Date, Connection and the empty line.
  static func end(date: String, _ persistence: Persistence) -> [UInt8] {
    let connection =
      switch persistence {
      case .keptOpen: ""
      case .keptOpenForHTTP10: "Connection: keep-alive\r\n"
      case .closed: "Connection: close\r\n"
      }
    return Array("Date: \(date)\r\n\(connection)\r\n".utf8)
  }
}

extension ResponseHead.Persistence {
  /// What a request asks for (RFC 9112, section 9.3).
  init(_ version: RequestHead.Version, _ fields: Fields) {
    let options = (fields["Connection"] ?? "").lowercased().split(separator: ",")
      .map { $0.filter { $0 != " " && $0 != "\t" } }
    self =
      if options.contains("close") {
        .closed
      } else if version == .http11 {
        .keptOpen
      } else {
        options.contains("keep-alive") ? .keptOpenForHTTP10 : .closed
      }
  }
}
