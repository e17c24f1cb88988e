import Glibc
import Primitives

/// The head of a request, split into its parts but not validated (RFC 9112, sections 3 and 5).
///
/// It is parsed in one pass and refers to the receive buffer: it is valid only as long as that is.
struct RequestHead {
  /// The most bytes of field lines; more are rejected with 431 (RFC 6585, section 5).
  static let maximumFieldsSize = 6 << 10
  static let maximumLineCount = 64
  /// The longest request line: a target with method, version and spaces.
  private static let maximumRequestLineLength = RequestTarget.maximumLength + 64

  enum Version { case http10, http11 }

  let method: UnsafeRawBufferPointer
  let target: UnsafeRawBufferPointer
  let version: Version
  /// The bytes of the head, including the empty line.
  let size: Int
  private let lines: UnsafeRawBufferPointer

  /// Parses the head at the beginning of the received bytes.
  ///
  /// - Returns: the head, or nil if more bytes must be received.
  /// - Throws: why no head can begin with these bytes; the connection must then be closed, since the
  ///   start of the next request is unknown.
  static func parse(_ bytes: UnsafeRawBufferPointer) throws(HTTPError) -> RequestHead? {
    guard let lineEnd = bytes.newline(from: 0) else {
      guard bytes.count <= maximumRequestLineLength else { throw targetTooLong }
      return nil
    }
    guard lineEnd <= maximumRequestLineLength else { throw targetTooLong }
    guard let line = bytes.line(from: 0, to: lineEnd),
      let space = line.first(of: UInt8(ascii: " ")), space > 0
    else { throw malformed }
    let method = line.part(0, space)
    let lastSpace = line.count - versionLength - 1
    guard lastSpace > space + 1, line[lastSpace] == UInt8(ascii: " "),
      method.isEqual(to: "GET") || RequestValidator.isToken(method)
    else { throw malformed }
    guard lastSpace - space - 1 <= RequestTarget.maximumLength else { throw targetTooLong }
    let version = try version(line.part(lastSpace + 1, line.count))
    guard let fieldsEnd = try endOfFields(bytes, from: lineEnd + 1) else { return nil }
    return RequestHead(
      method: method, target: line.part(space + 1, lastSpace), version: version,
      size: fieldsEnd + 2, lines: bytes.part(lineEnd + 1, fieldsEnd))
  }

  /// Calls the closure for every field until it returns false.
  ///
  /// - Returns: false if the closure did, or if a line is not a field.
  func forEachField(
    _ body: (_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Bool
  ) -> Bool {
    var start = 0
    while start < lines.count {
      guard let end = lines.newline(from: start), let line = lines.line(from: start, to: end),
        let colon = line.first(of: UInt8(ascii: ":")), colon > 0
      else { return false }
      let value = line.part(colon + 1, line.count).trimmed
      guard body(line.part(0, colon), value) else { return false }
      start = end + 1
    }
    return true
  }

  /// A copy of the fields.
  ///
  /// - Throws: 400 if a line is not a field.
  func fields() throws(HTTPError) -> Fields {
    var fields = Fields()
    let areFields = forEachField { name, value in
      fields.append(received: name, value)
      return true
    }
    guard areFields else { throw Self.malformed }
    return fields
  }

  /// Where the empty line begins; nil if it has not been received.
  private static func endOfFields(
    _ bytes: UnsafeRawBufferPointer, from first: Int
  ) throws(HTTPError) -> Int? {
    var (start, count) = (first, 0)
    while let end = bytes.newline(from: start) {
      // A bare LF must not end a line: a proxy that does not accept it would see another request.
      guard end > start, bytes[end - 1] == UInt8(ascii: "\r") else { throw malformed }
      if end == start + 1 { return start }
      count += 1
      guard count <= maximumLineCount, end - first <= maximumFieldsSize else {
        throw fieldsTooLarge
      }
      start = end + 1
    }
    // The result must not depend on how the head was split into pieces: the bytes may include the
    // last line's CRLF, or the CR of the empty line, which do not count.
    guard bytes.count - first <= maximumFieldsSize + 2 else { throw fieldsTooLarge }
    return nil
  }

  private static let versionLength = 8

  private static func version(_ text: UnsafeRawBufferPointer) throws(HTTPError) -> Version {
    if text.isEqual(to: "HTTP/1.1") { return .http11 }
    guard text.part(0, 5).isEqual(to: "HTTP/"), text[6] == UInt8(ascii: "."), text[5].isDigit,
      text[7].isDigit
    else { throw malformed }
    guard text[5] == UInt8(ascii: "1") else {
      throw HTTPError(505, "This version of HTTP is not supported.")
    }
    return text[7] == UInt8(ascii: "0") ? .http10 : .http11
  }

  private static let malformed = HTTPError(400, "The head of the request is malformed.")
  private static let targetTooLong = HTTPError(
    414, "The request target is longer than \(RequestTarget.maximumLength) bytes.")
  private static let fieldsTooLarge = HTTPError(
    431, "The header fields are more than \(maximumFieldsSize) bytes or too many.")
}

/// The head of a GET whose response depends on nothing but target, credentials and If-None-Match, and repeats
/// X-Request-Id.
///
/// Most requests of a thundering herd are of this kind and are answered from the cache without
/// creating a ``Request``. All other heads pass through ``RequestValidator``.
struct SimpleRequestHead {
  let target: UnsafeRawBufferPointer
  private(set) var authorization: UnsafeRawBufferPointer?
  private(set) var ifNoneMatch: UnsafeRawBufferPointer?
  private(set) var host: UnsafeRawBufferPointer?
  /// Sec-Fetch-Site.
  private(set) var fetchSite: UnsafeRawBufferPointer?
  /// Whether there is an X-Request-Id.
  private(set) var hasRequestID = false
  /// Whether the client wants the connection to be closed after the response.
  private(set) var wantsClose = false

  /// Nil if the head is not simple, or not valid.
  init?(_ head: RequestHead) {
    guard head.method.isEqual(to: "GET"), head.version == .http11 else { return nil }
    target = head.target
    guard head.forEachField({ accept($0, $1) }), host != nil else { return nil }
  }

  /// Records a field; false if it makes the head not simple, such as a repeated field.
  private mutating func accept(
    _ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
  ) -> Bool {
    guard !value.hasControls else { return false }
    switch name.count {
    case 4 where Self.isEqual(name, "host") && host == nil: host = value
    case 10 where Self.isEqual(name, "connection"):
      if Self.isEqual(value, "close") { wantsClose = true }
      return wantsClose || Self.isEqual(value, "keep-alive")
    case 12 where Self.isEqual(name, "x-request-id"): hasRequestID = true
    case 13 where Self.isEqual(name, "authorization") && authorization == nil:
      authorization = value
    case 13 where Self.isEqual(name, "if-none-match") && ifNoneMatch == nil: ifNoneMatch = value
    case 14 where Self.isEqual(name, "sec-fetch-site") && fetchSite == nil: fetchSite = value
    default: return Self.ignoredFields.contains { Self.isEqual(name, $0) }
    }
    return true
  }

  /// Fields that do not change a cached response; the last ones are those of proxies.
  private static let ignoredFields: [StaticString] = [
    "user-agent", "accept", "accept-encoding", "accept-language", "cache-control", "pragma",
    "priority", "sec-fetch-dest", "sec-fetch-mode", "x-forwarded-for", "x-forwarded-proto",
    "x-forwarded-host", "x-forwarded-port", "x-real-ip", "forwarded", "via",
  ]

  private static func isEqual(
    _ text: UnsafeRawBufferPointer, _ lowercased: StaticString
  ) -> Bool {
    guard text.count == lowercased.utf8CodeUnitCount, let base = text.baseAddress else {
      return false
    }
    return strncasecmp(base, lowercased.utf8Start, text.count) == 0
  }
}

extension UnsafeRawBufferPointer {
  /// Whether it has the same bytes; much faster than `elementsEqual`.
  func isEqual(to bytes: [UInt8]) -> Bool {
    guard count == bytes.count, let base = baseAddress else { return count == bytes.count }
    return memcmp(base, bytes, count) == 0
  }

  fileprivate func isEqual(to text: StaticString) -> Bool {
    guard count == text.utf8CodeUnitCount, let base = baseAddress else { return false }
    return memcmp(base, text.utf8Start, count) == 0
  }

  /// The bytes from one offset to another, which are within it.
  fileprivate func part(_ start: Int, _ end: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: self[start..<end])
  }

  /// Whether there are control characters or tabs in it.
  fileprivate var hasControls: Bool {
    guard count >= 8 else { return contains { $0 < 0x20 || $0 == 0x7F } }
    var found = Self.controls(in: word(at: count - 8))
    var offset = 0
    while offset < count - 8 {
      found |= Self.controls(in: word(at: offset))
      offset += 8
    }
    return found != 0
  }

  /// Not zero if one of eight bytes is less than 0x20, or 0x7F: "Determine if a word has a byte less than n" of
  /// Anderson's Bit Twiddling Hacks.
  private static func controls(in word: UInt64) -> UInt64 {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let other = word ^ (ones &* 0x7F)
    return (((word &- ones &* 0x20) & ~word) | ((other &- ones) & ~other)) & (ones &* 0x80)
  }

  /// The offset of the next line feed.
  fileprivate func newline(from start: Int) -> Int? {
    guard start < count, let base = baseAddress,
      let found = memchr(base + start, Int32(UInt8(ascii: "\n")), count - start)
    else { return nil }
    return UnsafeRawPointer(found) - base
  }

  /// The line that ends with the line feed at `end`; nil if no carriage return precedes it.
  fileprivate func line(from start: Int, to end: Int) -> UnsafeRawBufferPointer? {
    guard end > start, self[end - 1] == UInt8(ascii: "\r") else { return nil }
    return part(start, end - 1)
  }

  fileprivate func first(of byte: UInt8) -> Int? {
    guard let base = baseAddress, let found = memchr(base, Int32(byte), count) else { return nil }
    return UnsafeRawPointer(found) - base
  }

  /// Without the spaces and tabs at both ends.
  fileprivate var trimmed: UnsafeRawBufferPointer {
    var (start, end) = (0, count)
    while start < end, self[start] == 0x20 || self[start] == 0x09 { start += 1 }
    while start < end, self[end - 1] == 0x20 || self[end - 1] == 0x09 { end -= 1 }
    return part(start, end)
  }
}
