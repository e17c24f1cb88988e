/// Checks a request's head against RFC 9110 and 9112, above all against request smuggling.
///
/// Smuggling needs two servers that see different requests in the same bytes. Whatever is ambiguous
/// is therefore rejected, even where the RFCs let a server repair it, and the connection is closed.
enum RequestValidator {
  /// Validates a head and returns how its body is framed.
  ///
  /// - Parameters:
  ///   - method: the method.
  ///   - version: the version.
  ///   - fields: the header fields as received.
  /// - Returns: how the body that follows is framed.
  /// - Throws: why the request is rejected; the connection must then be closed.
  static func validate(
    method: String, version: RequestHead.Version, fields: Fields
  ) throws(HTTPError) -> Request.Body {
    switch method {
    case "GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "QUERY": break
    default: throw HTTPError(501, "The method is not supported.")
    }
    guard fields.allSatisfy({ isToken($0) && isFieldValue($1) }) else {
      throw HTTPError(400, "A header field has an invalid name or holds control characters.")
    }
    // RFC 9112, section 3.2.
    let hosts = fields.count(of: "Host")
    guard hosts == 1 || hosts == 0 && version == .http10 else {
      throw HTTPError(400, "A request must have exactly one Host field.")
    }
    if let expectation = fields["Expect"], expectation.lowercased() != "100-continue" {
      throw HTTPError(417, "The only supported expectation is 100-continue.")
    }
    return try framing(version: version, fields: fields)
  }

  /// How the body is framed (RFC 9112, sections 6.1 to 6.3).
  private static func framing(
    version: RequestHead.Version, fields: Fields
  ) throws(HTTPError) -> Request.Body {
    let lengths = fields.values(of: "Content-Length")
    let codings = fields.values(of: "Transfer-Encoding")
    guard let coding = codings.first else {
      guard let length = lengths.first else { return .none }
      // Int accepts a sign; Content-Length does not.
      guard lengths.count == 1, !length.isEmpty, length.utf8.allSatisfy(\.isDigit) else {
        throw HTTPError(400, "A request must have at most one valid Content-Length.")
      }
      let size = Int(length) ?? .max
      return size == 0 ? .none : .sized(size)
    }
    guard lengths.isEmpty else {
      throw HTTPError(400, "A request must not have both Content-Length and Transfer-Encoding.")
    }
    // By bytes: to Swift the sign for Kelvin is a K, and to the proxy before this server it is not.
    guard codings.count == 1, coding.utf8.map({ $0 | 0x20 }).elementsEqual("chunked".utf8) else {
      throw HTTPError(501, "The only supported transfer coding is chunked.")
    }
    guard version == .http11 else {
      throw HTTPError(400, "Transfer-Encoding is not allowed in HTTP/1.0.")
    }
    return .chunked
  }

  /// Whether the bytes are a token (RFC 9110, section 5.6.2).
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

  /// Whether the bytes are a field value without control characters (RFC 9110, section 5.5).
  private static func isFieldValue(_ value: UnsafeRawBufferPointer) -> Bool {
    value.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
  }
}
