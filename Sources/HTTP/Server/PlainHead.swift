import CMicroHTTPD
import Glibc

/// The head of a GET of which only target, credentials and If-None-Match can change the answer.
///
/// It is read in one pass, and nothing is copied; any other head is left to ``Guard`` and ``Request``.
struct PlainHead {
  private(set) var authorization: UnsafeRawBufferPointer?
  private(set) var validator: UnsafeRawBufferPointer?
  private var hosts = 0
  private var size = 0

  /// Reads the head that a connection has received; nil when it is not plain, or not well-formed.
  init?(
    _ handle: OpaquePointer, _ method: UnsafePointer<CChar>, _ version: UnsafePointer<CChar>
  ) {
    guard strcmp(method, "GET") == 0, strcmp(version, "HTTP/1.1") == 0 else { return nil }
    let isPlain = withUnsafeMutablePointer(to: &self) {
      MHD_get_connection_values_n(handle, .HEADER_KIND, takeField, $0) < Guard.linesLimit
    }
    guard isPlain, hosts == 1, size <= Guard.fieldsLimit else { return nil }
  }

  /// Takes a field; a head with one that is not known here counts as one without a Host.
  fileprivate mutating func take(
    _ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
  ) -> Bool {
    size += name.count + value.count + 4
    guard value.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }), keep(name, value) else {
      hosts = 2
      return false
    }
    return true
  }

  private mutating func keep(
    _ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
  ) -> Bool {
    switch name.count {
    case 4 where Self.isEqual(name, "host"): hosts += 1
    case 13 where Self.isEqual(name, "authorization") && authorization == nil:
      authorization = value
    case 13 where Self.isEqual(name, "if-none-match") && validator == nil: validator = value
    default: return Self.ignored.contains { Self.isEqual(name, $0) }
    }
    return true
  }

  /// Fields that no answer depends on, or that libmicrohttpd sees to.
  private static let ignored: [StaticString] = [
    "user-agent", "accept", "accept-encoding", "accept-language", "connection", "cache-control",
    "pragma", "priority", "sec-fetch-dest", "sec-fetch-mode", "sec-fetch-site",
  ]

  private static func isEqual(_ name: UnsafeRawBufferPointer, _ lowered: StaticString) -> Bool {
    guard name.count == lowered.utf8CodeUnitCount, let base = name.baseAddress else { return false }
    return strncasecmp(base, lowered.utf8Start, name.count) == 0
  }
}

private let takeField: MHD_KeyValueIteratorN = { head, _, name, nameSize, value, valueSize in
  guard let head else { return .NO }
  let isKnown = head.assumingMemoryBound(to: PlainHead.self).pointee.take(
    UnsafeRawBufferPointer(start: name, count: nameSize),
    UnsafeRawBufferPointer(start: value, count: valueSize))
  return isKnown ? .YES : .NO
}
