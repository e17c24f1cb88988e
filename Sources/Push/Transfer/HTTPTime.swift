import CCurl
import FoundationEssentials

/// Times in header fields.
enum HTTPTime {
  /// An HTTP date (RFC 9110 section 5.6.7), read by `curl_getdate`.
  static func read(_ text: String?) -> Date? {
    guard let text else { return nil }
    let time = curl_getdate(text, nil)
    return time < 0 ? nil : Date(timeIntervalSince1970: Double(time))
  }

  /// The `Retry-After` field (RFC 9110 section 10.2.3): seconds or a date; a day at most.
  static func wait(_ text: String?, at now: Date) -> Duration? {
    let seconds = text.flatMap { Int($0) }.map(Double.init) ?? read(text)?.timeIntervalSince(now)
    return seconds.map { .seconds(min(max(0, $0), 86_400)) }
  }
}
