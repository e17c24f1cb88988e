import FoundationEssentials
import RichPushAPI
import Store

/// When a local time is, in each time zone.
struct LocalTimes: Sendable {
  private let time: LocalTime
  private let standard: Date

  /// Nil if it is not a valid time, or there is no such zone.
  init?(_ time: LocalTime) {
    guard let standard = time.timeZone.flatMap(time.date) else { return nil }
    (self.time, self.standard) = (time, standard)
  }

  /// When it is in a zone of the IANA's database; if that is nil or unknown, in the sender's.
  func date(in zone: String?) -> Date {
    zone.flatMap(TimeZone.init(identifier:)).flatMap(time.date) ?? standard
  }

  /// Recipients, who are in ascending order, by the first time at which one of their devices shows it; without a
  /// device, by the time in the sender's zone.
  func groups(of recipients: [UserID], with devices: AudienceDevices) -> [Date: [UserID]] {
    let first = devices.least(date)
    return Dictionary(grouping: recipients) { first[$0] ?? standard }
  }
}
