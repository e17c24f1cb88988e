import FoundationEssentials
import RichPushAPI

/// When a message is to be delivered: a Unix time, a duration such as `30m` or `2 days`, or a time of RFC 3339.
enum NtfyDelay {
  /// - Throws: if it is none of these, or in the past.
  static func time(_ text: String, now: Date) throws(ServiceError) -> Date {
    let found: Date? =
      if let seconds = Int(text) {
        Date(timeIntervalSince1970: Double(seconds))
      } else if let seconds = duration(text) {
        now + seconds
      } else {
        JSONCoding.time(text)
      }
    guard let found else {
      throw ServiceError(
        .init(
          "delay", .rejected,
          "delay must be a Unix time, a duration such as 30m, or a time such as 2027-01-31T09:00:00Z; "
            + "other words for a time are not read here."))
    }
    guard found >= now, found < now + longest else {
      throw ServiceError(
        .init("delay", .rejected, "delay must be a time in the next 10 years."))
    }
    return found
  }

  private static let longest = 10 * 366 * 86_400.0

  /// The seconds of a duration, in Go's form, such as `1h30m`, or of one unit, such as `2 days`.
  static func duration(_ text: String) -> Double? {
    let lower = text.lowercased()
    if let match = lower.wholeMatch(
      of: /(\d{1,9})\s*(d|days?|h|hours?|m|mins?|minutes?|s|secs?|seconds?)/)
    {
      return Double(match.1).flatMap { number in unit(match.2.first).map { number * $0 } }
    }
    guard lower.wholeMatch(of: /(\d{1,9}(\.\d{1,9})?[hms])+/) != nil else { return nil }
    return lower.matches(of: /([0-9.]+)([hms])/).reduce(0) { sum, match in
      sum + (Double(match.1) ?? 0) * (unit(match.2.first) ?? 0)
    }
  }

  private static func unit(_ letter: Character?) -> Double? {
    switch letter {
    case "d": 86_400
    case "h": 3600
    case "m": 60
    case "s": 1
    default: nil
    }
  }
}
