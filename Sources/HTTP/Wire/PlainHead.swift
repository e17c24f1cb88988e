import Glibc

/// The head of a GET of which only target, credentials and If-None-Match can change the answer.
///
/// Any other head is left to ``Guard`` and ``Request``.
struct PlainHead {
  let target: UnsafeRawBufferPointer
  private(set) var authorization: UnsafeRawBufferPointer?
  private(set) var validator: UnsafeRawBufferPointer?
  private(set) var host: UnsafeRawBufferPointer?
  /// Sec-Fetch-Site.
  private(set) var site: UnsafeRawBufferPointer?
  /// Whether the connection is to be closed after the answer.
  private(set) var isLast = false

  /// Nil when the head is not plain, or not well-formed.
  init?(_ head: RequestHead) {
    guard head.method.elementsEqual("GET".utf8), head.version == .http11 else { return nil }
    target = head.target
    guard head.forEachField({ take($0, $1) }), host != nil else { return nil }
  }

  private mutating func take(
    _ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
  ) -> Bool {
    guard value.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { return false }
    switch name.count {
    case 4 where Self.isEqual(name, "host") && host == nil: host = value
    case 10 where Self.isEqual(name, "connection"):
      if Self.isEqual(value, "close") { isLast = true }
      return isLast || Self.isEqual(value, "keep-alive")
    case 13 where Self.isEqual(name, "authorization") && authorization == nil:
      authorization = value
    case 13 where Self.isEqual(name, "if-none-match") && validator == nil: validator = value
    case 14 where Self.isEqual(name, "sec-fetch-site") && site == nil: site = value
    default: return Self.ignored.contains { Self.isEqual(name, $0) }
    }
    return true
  }

  /// Fields that no answer depends on.
  private static let ignored: [StaticString] = [
    "user-agent", "accept", "accept-encoding", "accept-language", "cache-control", "pragma",
    "priority", "sec-fetch-dest", "sec-fetch-mode",
  ]

  private static func isEqual(_ text: UnsafeRawBufferPointer, _ lowered: StaticString) -> Bool {
    guard text.count == lowered.utf8CodeUnitCount, let base = text.baseAddress else { return false }
    return strncasecmp(base, lowered.utf8Start, text.count) == 0
  }
}
