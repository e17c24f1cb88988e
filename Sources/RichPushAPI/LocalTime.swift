#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// A time by the clock of each recipient: every device gets its push when its own clock shows it.
public struct LocalTime: Sendable, Equatable, Codable {
  /// The date and the time of the day, to the minute, without a time zone: `2026-12-01T09:00`.
  public let at: String
  /// The time zone of those whose devices have none, by its name in the IANA's database, such as `Europe/Berlin`.
  public let zone: String

  /// A time of the day in a year from 2000 to 2099; the server refuses anything else.
  ///
  /// ```swift
  /// var new = NewNotification("Good morning", to: .users(["alice"]))
  /// new.localTime = LocalTime(at: "2026-12-01T09:00", zone: "Europe/Berlin")
  /// ```
  public init(at: String, zone: String) { (self.at, self.zone) = (at, zone) }
}

extension LocalTime {
  /// The time as UTC has it; nil if it is no time.
  private var reading: Date? {
    guard at.utf8.count == 16, at.hasPrefix("20") else { return nil }
    let whole = at + ":00Z"
    // A day that the month does not have becomes one of the next month.
    guard let date = try? Date(whole, strategy: .iso8601), date.formatted(.iso8601) == whole else {
      return nil
    }
    return date
  }

  /// When a clock in a time zone shows it; nil if it is no time.
  ///
  /// As in iCalendar (RFC 5545, section 3.3.5): the first of two when the clock is put back; of one that the clock
  /// passes over, what it would be by the offset before, so 02:30 is then 03:30.
  package func date(in zone: TimeZone) -> Date? {
    guard let reading else { return nil }
    let day = 86_400.0
    func date(_ offset: Int) -> Date { reading.addingTimeInterval(Double(-offset)) }
    let before = zone.secondsFromGMT(for: reading.addingTimeInterval(-day))
    let after = zone.secondsFromGMT(for: reading.addingTimeInterval(day))
    let isBefore = zone.secondsFromGMT(for: date(before)) == before
    let isAfter = zone.secondsFromGMT(for: date(after)) == after
    return isBefore || !isAfter ? date(before) : date(after)
  }

  /// When a clock in the last of all time zones, twelve hours behind UTC, shows it; nil if it is no time.
  package var last: Date? { reading?.addingTimeInterval(12 * 3600) }

  /// The time zone; nil if there is none of this name.
  package var timeZone: TimeZone? {
    zone.isEmpty || zone.utf8.count > 64 ? nil : TimeZone(identifier: zone)
  }

  /// The form in which it is stored, such as `2026-12-01T09:00 Europe/Berlin`.
  package var text: String { "\(at) \(zone)" }

  /// Reads ``text``.
  package init?(text: String) {
    let parts = text.split(separator: " ", maxSplits: 1).map(String.init)
    guard parts.count == 2 else { return nil }
    self.init(at: parts[0], zone: parts[1])
  }
}
