#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// How long servers make a client wait.
enum RetryAfter {
  /// No client waits for longer, whatever a server sends, in seconds.
  static let longest = 86_400.0

  /// The value of a `Retry-After` field (RFC 9110 section 10.2.3), seconds or a date, in seconds; nil for any other text.
  static func seconds(_ text: String) -> Double? {
    if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
      return min(Double(text) ?? longest, longest)
    }
    return HTTPTransport.date(text).map { min(max(0, $0.timeIntervalSinceNow), longest) }
  }
}
