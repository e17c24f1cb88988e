/// The hours of each day in which a device gets no pushes, by the clock of its time zone.
///
/// They get there when the hours are over; an urgent one gets there at once.
public struct QuietHours: Sendable, Equatable, Codable {
  /// When they begin, such as `22:00`.
  public let from: String
  /// When they end, such as `07:00`; on the next day if that is earlier than when they begin.
  public let until: String

  /// Hours from a time of the day until another; the server refuses what is none.
  ///
  /// ```swift
  /// let night = QuietHours(from: "22:00", until: "07:00")
  /// ```
  public init(from: String, until: String) { (self.from, self.until) = (from, until) }

  /// The hours from one minute of the day until another.
  package init(from: Int, until: Int) {
    func text(_ minutes: Int) -> String {
      let (hour, minute) = minutes.quotientAndRemainder(dividingBy: 60)
      return (hour < 10 ? "0" : "") + "\(hour)" + (minute < 10 ? ":0" : ":") + "\(minute)"
    }
    self.init(from: text(from), until: text(until))
  }

  /// The minutes of the day at which they begin and end; nil if one is no time from 00:00 to 23:59.
  package var minutes: (from: Int, until: Int)? {
    guard let from = Self.minutes(from), let until = Self.minutes(until) else { return nil }
    return (from, until)
  }

  private static func minutes(_ text: String) -> Int? {
    let digits = Array(text.utf8)
    guard digits.count == 5, digits[2] == UInt8(ascii: ":"), digits[0] >= UInt8(ascii: "0"),
      digits[3] >= UInt8(ascii: "0"), let hour = Int(text.prefix(2)),
      let minute = Int(text.suffix(2)),
      (0..<24).contains(hour), (0..<60).contains(minute)
    else { return nil }
    return hour * 60 + minute
  }
}
