/// What libmicrohttpd lets through and RFC 9110 and 9112 do not, above all what smuggles requests.
enum Guard {
  /// The most bytes that the fields of a request may have; more is refused with 431.
  static let fieldsLimit = 6 * 1024
  static let linesLimit = 64

  /// Checks a head and tells what body follows it.
  ///
  /// - Parameters:
  ///   - method: the method.
  ///   - version: "HTTP/1.0" or "HTTP/1.1".
  ///   - fields: the header fields as they were received.
  /// - Returns: the body that is to be expected.
  /// - Throws: why the request is refused; the connection must then be closed.
  static func check(
    method: String, version: String, fields: Fields
  ) throws(Refusal) -> Request.Body {
    switch method {
    case "GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "QUERY": break
    default: throw Refusal(501, "This server does not know the method.")
    }
    guard fields.count <= linesLimit, fields.size <= fieldsLimit else {
      throw Refusal(431, "The header fields are more than \(fieldsLimit) bytes or too many.")
    }
    guard fields.allSatisfy({ isToken($0) && isValue($1) }) else {
      throw Refusal(400, "A header field has an invalid name or holds control characters.")
    }
    let hosts = fields.count(of: "Host")
    guard hosts == 1 || hosts == 0 && version == "HTTP/1.0" else {
      throw Refusal(400, "A request must have exactly one Host field.")
    }
    if let expectation = fields["Expect"], expectation.lowercased() != "100-continue" {
      throw Refusal(417, "The only expectation this server can meet is 100-continue.")
    }
    return try body(version: version, fields: fields)
  }

  /// Why libmicrohttpd has refused a head before anybody else could look at it.
  static func sentence(_ status: Int) -> String {
    switch status {
    case 413: "The body, or one of its chunks, is larger than can be taken."
    case 414: "The request target is longer than \(Target.limit) bytes."
    case 431: "The header fields are more than \(fieldsLimit) bytes or too many."
    case 500..<600: "The server cannot answer this request just now, or not in its version of HTTP."
    default: "The head of the request is malformed, or its body is not of the length it says."
    }
  }

  private static func body(version: String, fields: Fields) throws(Refusal) -> Request.Body {
    let lengths = fields.values(of: "Content-Length")
    let codings = fields.values(of: "Transfer-Encoding")
    guard let coding = codings.first else {
      guard let length = lengths.first else { return .none }
      guard lengths.count == 1, length.utf8.allSatisfy({ (48...57).contains($0) }),
        let size = Int(length)
      else { throw Refusal(400, "A request must have at most one valid Content-Length.") }
      return size == 0 ? .none : .sized(size)
    }
    guard lengths.isEmpty else {
      throw Refusal(400, "A request must not have both Content-Length and Transfer-Encoding.")
    }
    guard codings.count == 1, coding.lowercased() == "chunked" else {
      throw Refusal(501, "The only transfer coding this server knows is chunked.")
    }
    guard version == "HTTP/1.1" else {
      throw Refusal(400, "HTTP/1.0 knows no transfer codings.")
    }
    return .chunked
  }

  /// RFC 9110, section 5.6.2.
  private static func isToken(_ name: UnsafeRawBufferPointer) -> Bool {
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
