import FoundationEssentials
import RichPushAPI
import Store

/// When a local time is, in the time zones of devices.
struct LocalTimes: Sendable {
  /// By the zones' names in the IANA's database; a name that is unknown has no time.
  private let times: [String: Date]
  /// When it is in the sender's zone.
  let standard: Date

  /// Nil if it is not a valid time, or there is no such zone.
  init?(_ time: LocalTime, for devices: AudienceDevices) {
    guard let standard = time.timeZone.flatMap(time.date) else { return nil }
    self.standard = standard
    times = devices.zones.reduce(into: [:]) { times, zone in
      times[zone] = TimeZone(identifier: zone).flatMap(time.date)
    }
  }

  /// When it is in a zone of one of the devices; if that is nil or unknown, in the sender's.
  func date(in zone: String?) -> Date { zone.flatMap { times[$0] } ?? standard }

  /// Recipients, who are in ascending order, by the first time at which one of their devices shows it; without a
  /// device, by the time in the sender's zone.
  func groups(of recipients: [UserID], with devices: AudienceDevices) -> [Date: [UserID]] {
    let first = devices.least(date)
    return Dictionary(grouping: recipients) { first[$0] ?? standard }
  }
}
