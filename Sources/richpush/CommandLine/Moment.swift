import Foundation

/// A time as somebody types it.
enum Moment {
  /// Reads a distance from now, such as `90s`, `30m`, `12h` or `7d`, or a time as RFC 3339 writes it.
  static func read(_ text: String, of flag: String) throws(CommandLineError) -> Date {
    let units: [Character: Double] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
    if let unit = text.last.flatMap({ units[$0] }), let number = Int(text.dropLast()),
      (1...100_000).contains(number)
    {
      return Date(timeIntervalSinceNow: Double(number) * unit)
    }
    if let date = try? Date(text, strategy: .iso8601) { return date }
    throw .usage(
      "--\(flag) is a time from now such as 90s, 30m, 12h or 7d, or one such as "
        + "2026-12-31T23:59:59Z, not '\(text)'")
  }
}

extension Arguments {
  /// The value of a flag as a time.
  func moment(_ name: String) throws(CommandLineError) -> Date? {
    guard let text = string(name) else { return nil }
    return try Moment.read(text, of: name)
  }
}
