import CCurl
import FoundationEssentials

/// The `Retry-After` field (RFC 9110 section 10.2.3).
enum RetryAfter {
  /// The time to wait: a number of seconds or an HTTP date; nil when it is neither.
  ///
  /// A day at most.
  static func read(_ text: String?, at now: Date) -> Duration? {
    guard let text else { return nil }
    if let seconds = Int(text) { return bounded(Double(seconds)) }
    let time = curl_getdate(text, nil)
    return time < 0 ? nil : bounded(Double(time) - now.timeIntervalSince1970)
  }

  private static func bounded(_ seconds: Double) -> Duration {
    .seconds(min(max(0, seconds), 86_400))
  }
}
