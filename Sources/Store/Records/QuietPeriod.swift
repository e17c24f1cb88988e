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

/// The quiet period of a device as a query selects it with its time zone, for many jobs of many devices.
struct QuietDevices {
  /// Selects a text that ``end(of:)`` reads; NULL if the device has no quiet period, or the push is urgent.
  static let column = """
    CASE WHEN push.urgent IS NULL AND registration.quiet_hours IS NOT NULL
      THEN registration.quiet_hours || ' ' || coalesce(registration.time_zone, 'UTC') END
    """

  private let time: Date
  private var ends: [String: Date?] = [:]

  init(at time: Date) { self.time = time }

  /// When the quiet period of a device is over; nil if none is under way.
  mutating func end(of device: String?) -> Date? {
    guard let device else { return nil }
    if let known = ends[device] { return known }
    let parts = device.split(separator: " ", maxSplits: 1).map(String.init)
    let zone = parts.last.flatMap(TimeZone.init(identifier:)) ?? .gmt
    let end = parts.first.flatMap(QuietPeriod.init(rawValue:))?.end(at: time, in: zone)
    ends[device] = .some(end)
    return end
  }
}
