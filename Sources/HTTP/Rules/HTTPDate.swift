import FoundationEssentials

/// HTTP's date formats (RFC 9110, section 5.6.7): one to write, three to read.
enum HTTPDate {
  private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// The date as an IMF-fixdate, such as "Sun, 06 Nov 1994 08:49:37 GMT".
  static func text(_ date: Date) -> String {
    let seconds = seconds(of: date)
    let (day, time) = seconds.quotientAndRemainderFlooring(by: 86_400)
    let (year, month, dayOfMonth) = civil(day)
    let weekday = days[(day + 4).quotientAndRemainderFlooring(by: 7).remainder]
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(weekday), \(two(dayOfMonth)) \(months[month - 1]) \(year) "
      + "\(two(time / 3600)):\(two(time / 60 % 60)):\(two(time % 60)) GMT"
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
    if !isAsctime, yearWord.count == 2 { year += year < 70 ? 2000 : 1900 }
    guard (1000...9999).contains(year) else { return nil }
    // A leap second is the one before it, as POSIX has it.
    let seconds =
      dayNumber(year, month + 1, day) * 86_400 + hour * 3600 + minute * 60 + min(second, 59)
    return Date(timeIntervalSince1970: Double(seconds))
  }

  /// Whole seconds since 1970, which is all that HTTP's dates can tell.
  static func seconds(of date: Date) -> Int { Int(date.timeIntervalSince1970.rounded(.down)) }

  private static func number(_ digits: Substring) -> Int? {
    guard (1...4).contains(digits.utf8.count), digits.utf8.allSatisfy({ (48...57).contains($0) })
    else { return nil }
    return Int(digits)
  }

  /// The proleptic Gregorian date of a day counted from 1970 (years run from March within an era).
  private static func civil(_ day: Int) -> (year: Int, month: Int, day: Int) {
    let (era, dayOfEra) = (day + 719_468).quotientAndRemainderFlooring(by: 146_097)
    let yearOfEra =
      (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shifted = (5 * dayOfYear + 2) / 153
    let month = shifted < 10 ? shifted + 3 : shifted - 9
    return (
      yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1
    )
  }

  private static func dayNumber(_ year: Int, _ month: Int, _ day: Int) -> Int {
    let (era, yearOfEra) = (month <= 2 ? year - 1 : year).quotientAndRemainderFlooring(by: 400)
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }
}

extension Int {
  /// Division whose remainder is never negative.
  fileprivate func quotientAndRemainderFlooring(by divisor: Int) -> (quotient: Int, remainder: Int)
  {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
  }
}
