package import FoundationEssentials

/// The hours of each day in which a device is not disturbed, by the clock of its time zone.
package struct QuietPeriod: Sendable, Equatable, RawRepresentable {
  /// The minutes after midnight at which it begins and ends; over midnight if it ends before it begins.
  package let from, until: Int

  /// Nil unless these are two different minutes of a day.
  package init?(from: Int, until: Int) {
    let minutes = 0..<1440
    guard minutes.contains(from), minutes.contains(until), from != until else { return nil }
    (self.from, self.until) = (from, until)
  }

  /// The form in which it is stored, such as `1320-420`.
  package init?(rawValue: String) {
    let minutes = rawValue.split(separator: "-").compactMap { Int($0) }
    guard minutes.count == 2 else { return nil }
    self.init(from: minutes[0], until: minutes[1])
  }

  /// The form in which it is stored.
  package var rawValue: String { "\(from)-\(until)" }

  /// When one that is under way at `time` is over: when the clock first shows a time outside of it; nil if none is.
  ///
  /// The day on which the clock is put forward has no time from two to three, say, and the one on which it is put back
  /// has it twice.
  package func end(at time: Date, in zone: TimeZone) -> Date? {
    let start = Int(time.timeIntervalSince1970.rounded(.down))
    let day = 86_400
    let clock = (start + zone.secondsFromGMT(for: time)) % day
    let second = clock < 0 ? clock + day : clock
    guard contains(minute: second / 60) else { return nil }
    let left = (until * 60 - second + day) % day
    let end = Date(timeIntervalSince1970: Double(start + left))
    guard let change = zone.nextDaylightSavingTimeTransition(after: time), change <= end else {
      return end
    }
    return self.end(at: change, in: zone) ?? change
  }

  private func contains(minute: Int) -> Bool {
    from < until ? from <= minute && minute < until : from <= minute || minute < until
  }
}

extension QuietPeriod: Column {}

/// The quiet periods of a device and of the team as a query selects them with the device's time zone, for many jobs of
/// many devices.
struct QuietDevices {
  /// When a quiet period is over, and whose it is.
  struct End: Hashable {
    let time: Date
    let isTeams: Bool
  }

  private let rules: SendingRules
  private let time: Date
  private var ends: [String: End?] = [:]

  init(_ rules: SendingRules, at time: Date) { (self.rules, self.time) = (rules, time) }

  /// Selects a text that ``end(of:)`` reads; NULL if there can be no quiet period, as for an urgent push.
  static func column(_ rules: SendingRules) -> String {
    """
    CASE WHEN \(condition(rules))
      THEN coalesce(registration.quiet_hours, '') || ' ' || coalesce(registration.time_zone, '') END
    """
  }

  /// The condition that a push to a device may have to wait.
  static func condition(_ rules: SendingRules) -> String {
    "push.urgent IS NULL"
      + (rules.quietPeriod == nil ? " AND registration.quiet_hours IS NOT NULL" : "")
  }

  /// When the quiet periods of a device are over, the later of two; nil if none is under way.
  mutating func end(of device: String?) -> End? {
    guard let device else { return nil }
    if let known = ends[device] { return known }
    let parts = device.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
      .map(String.init)
    let zone = parts.last.flatMap { $0.isEmpty ? nil : TimeZone(identifier: $0) }
    let own = parts.first.flatMap(QuietPeriod.init(rawValue:))?.end(at: time, in: zone ?? .gmt)
    let teams = rules.quietPeriod?.end(at: time, in: zone ?? rules.zone)
    let end: End? =
      if let teams, own.map({ $0 <= teams }) ?? true {
        End(time: teams, isTeams: true)
      } else {
        own.map { End(time: $0, isTeams: false) }
      }
    ends[device] = .some(end)
    return end
  }
}
