/// The head of a response (RFC 9112, section 4), but for its end, which changes with the time.
enum ResponseHead {
  /// How the other side knows where the body ends.
  enum Framing {
    case length(Int)
    case chunked
    /// There is none, or it ends with the connection.
    case none
  }

  /// What becomes of the connection, in the words of the version that was asked in.
  enum Ending: Int { case stays, staysIn10, closes }

  /// Status line and fields, to be followed by an end.
  static func bytes(_ status: Int, _ fields: Fields, _ framing: Framing) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(512)
    bytes += "HTTP/1.1 \(status) \(Problem.title(of: status))\r\n".utf8
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

  /// The end of a head: the date, what becomes of the connection, and the empty line.
  static func end(date: String, _ ending: Ending) -> [UInt8] {
    let connection =
      switch ending {
      case .stays: ""
      case .staysIn10: "Connection: keep-alive\r\n"
      case .closes: "Connection: close\r\n"
      }
    return Array("Date: \(date)\r\n\(connection)\r\n".utf8)
  }
}
