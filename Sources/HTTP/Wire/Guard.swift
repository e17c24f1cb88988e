/// What RFC 9110 and 9112 forbid in a head, above all what smuggles requests.
enum Guard {
  /// Checks a head and tells what body follows it.
  ///
  /// - Parameters:
  ///   - method: the method.
  ///   - version: the version.
  ///   - fields: the header fields as they were received.
  /// - Returns: the body that is to be expected.
  /// - Throws: why the request is refused; the connection must then be closed.
  static func check(
    method: String, version: RequestHead.Version, fields: Fields
  ) throws(Refusal) -> Request.Body {
    switch method {
    case "GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "QUERY": break
    default: throw Refusal(501, "This server does not know the method.")
    }
    guard fields.allSatisfy({ isToken($0) && isValue($1) }) else {
      throw Refusal(400, "A header field has an invalid name or holds control characters.")
    }
    let hosts = fields.count(of: "Host")
    guard hosts == 1 || hosts == 0 && version == .http10 else {
      throw Refusal(400, "A request must have exactly one Host field.")
    }
    if let expectation = fields["Expect"], expectation.lowercased() != "100-continue" {
      throw Refusal(417, "The only expectation this server can meet is 100-continue.")
    }
    return try body(version: version, fields: fields)
  }

  /// Why something could not be read as a head.
  static func unreadable(_ status: Int) -> Refusal {
    let limit = RequestHead.fieldsLimit
    return switch status {
    case 414: Refusal(414, "The request target is longer than \(Target.limit) bytes.")
    case 431: Refusal(431, "The header fields are more than \(limit) bytes or too many.")
    case 505: Refusal(505, "The server does not speak this version of HTTP.")
    default: Refusal(400, "The head of the request is malformed.")
    }
  }

  private static func body(version: RequestHead.Version, fields: Fields) throws(Refusal)
    -> Request.Body
  {
    let lengths = fields.values(of: "Content-Length")
    let codings = fields.values(of: "Transfer-Encoding")
    guard let coding = codings.first else {
      guard let length = lengths.first else { return .none }
      guard lengths.count == 1, !length.isEmpty, length.utf8.allSatisfy(\.isDigit) else {
        throw Refusal(400, "A request must have at most one valid Content-Length.")
      }
      let size = Int(length) ?? .max
      return size == 0 ? .none : .sized(size)
    }
    guard lengths.isEmpty else {
      throw Refusal(400, "A request must not have both Content-Length and Transfer-Encoding.")
    }
    guard codings.count == 1, coding.lowercased() == "chunked" else {
      throw Refusal(501, "The only transfer coding this server knows is chunked.")
    }
    guard version == .http11 else {
      throw Refusal(400, "HTTP/1.0 knows no transfer codings.")
    }
    return .chunked
  }

  /// RFC 9110, section 5.6.2.
  static func isToken(_ name: some Collection<UInt8>) -> Bool {
    !name.isEmpty
      && name.allSatisfy { byte in
        switch Unicode.Scalar(byte) {
        case "a"..."z", "A"..."Z", "0"..."9", "-", "_": true
        case "!", "#", "$", "%", "&", "'", "*", "+", ".", "^", "`", "|", "~": true
        default: false
        }
      }
  }

  private static func isValue(_ value: UnsafeRawBufferPointer) -> Bool {
    value.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
  }
}
