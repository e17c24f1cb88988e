import FoundationEssentials
import Glibc

/// HTTP's date formats (RFC 9110, section 5.6.7): one to write, three to read.
enum HTTPDate {
  private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// The date as an IMF-fixdate, such as "Sun, 06 Nov 1994 08:49:37 GMT".
  static func text(_ date: Date) -> String {
    var (seconds, parts) = (time_t(seconds(of: date)), tm())
    gmtime_r(&seconds, &parts)
    func twoDigits(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(days[Int(parts.tm_wday)]), \(twoDigits(parts.tm_mday)) \(months[Int(parts.tm_mon)]) "
      + "\(parts.tm_year + 1900) \(twoDigits(parts.tm_hour)):\(twoDigits(parts.tm_min)):"
      + "\(twoDigits(parts.tm_sec)) GMT"
  }

  /// The date that a text in any of the three formats names; nil for anything else.
  static func date(_ text: String) -> Date? {
    let words = text.split(whereSeparator: { $0 == " " || $0 == "," || $0 == "-" }).map(String.init)
    // IMF-fixdate and RFC 850: weekday day month year time GMT; asctime: weekday month day time year.
    let isAsctime = words.count == 5
    guard isAsctime || words.count == 6 && words[5] == "GMT" else { return nil }
    let (dayWord, monthWord) = isAsctime ? (words[2], words[1]) : (words[1], words[2])
    let (yearWord, clock) = isAsctime ? (words[4], words[3]) : (words[3], words[4])
    let time = clock.split(separator: ":", omittingEmptySubsequences: false).map { number($0) }
    guard days.contains(where: { words[0].hasPrefix($0) }), time.count == 3,
      let month = months.firstIndex(of: monthWord), let day = number(dayWord[...]),
      var year = number(yearWord[...]), let hour = time[0], let minute = time[1],
      let second = time[2], (1...31).contains(day), hour < 24, minute < 60, second <= 60
    else { return nil }
    // RFC 850 has two digits. The RFC's rule, "not more than 50 years in the future", needs a clock;
    // strptime's fixed pivot (POSIX) gives the same for every date that a server can have sent.
    if !isAsctime, yearWord.count == 2 { year += year < 70 ? 2000 : 1900 }
    guard (1000...9999).contains(year) else { return nil }
    var parts = tm()
    // A leap second is the one before it, as in POSIX time.
    (parts.tm_hour, parts.tm_min, parts.tm_sec) = (
      Int32(hour), Int32(minute), Int32(min(second, 59))
    )
    (parts.tm_year, parts.tm_mon, parts.tm_mday) = (Int32(year - 1900), Int32(month), Int32(day))
    return Date(timeIntervalSince1970: Double(timegm(&parts)))
  }

  /// Whole seconds since 1970, the resolution of HTTP's dates.
  static func seconds(of date: Date) -> Int { Int(date.timeIntervalSince1970.rounded(.down)) }

  private static func number(_ digits: Substring) -> Int? {
    guard (1...4).contains(digits.utf8.count), digits.utf8.allSatisfy(\.isDigit) else { return nil }
    return Int(digits)
  }
}

/// The monotonic clock.
enum MonotonicClock {
  static var nanoseconds: Int {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
  }
}

extension Duration {
  var milliseconds: Int {
    Int(components.seconds) * 1000 + Int(components.attoseconds / 1_000_000_000_000_000)
  }
}
