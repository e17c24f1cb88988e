import Foundation
import Testing

@testable import Store

/// When quiet hours are over, by the clock of a time zone.
@Suite struct QuietPeriodTests {
  private static let night = QuietPeriod(from: 22 * 60, until: 7 * 60)
  private static let noon = QuietPeriod(from: 12 * 60, until: 14 * 60)

  private func end(
    _ period: QuietPeriod?, at time: String, in zone: String
  ) throws -> String? {
    let (period, zone) = (try #require(period), try #require(TimeZone(identifier: zone)))
    let time = try #require(try? Date(time, strategy: .iso8601))
    return period.end(at: time, in: zone)?.formatted(.iso8601)
  }

  @Test func `by day, and over midnight`() throws {
    for (period, time, expected) in [
      (Self.noon, "2027-01-15T11:59:59Z", nil), (Self.noon, "2027-01-15T12:00:00Z", "14"),
      (Self.noon, "2027-01-15T13:59:59Z", "14"), (Self.noon, "2027-01-15T14:00:00Z", nil),
    ] as [(QuietPeriod?, String, String?)] {
      let expected = expected.map { "2027-01-15T\($0):00:00Z" }
      #expect(try end(period, at: time, in: "UTC") == expected, "\(time)")
    }
    #expect(try end(Self.night, at: "2027-01-15T21:59:59Z", in: "UTC") == nil)
    #expect(try end(Self.night, at: "2027-01-15T22:00:00Z", in: "UTC") == "2027-01-16T07:00:00Z")
    #expect(try end(Self.night, at: "2027-01-31T23:59:59Z", in: "UTC") == "2027-02-01T07:00:00Z")
    #expect(try end(Self.night, at: "2027-01-16T00:00:00Z", in: "UTC") == "2027-01-16T07:00:00Z")
    #expect(try end(Self.night, at: "2027-01-16T06:59:59Z", in: "UTC") == "2027-01-16T07:00:00Z")
    #expect(try end(Self.night, at: "2027-01-16T07:00:00Z", in: "UTC") == nil)
  }

  @Test func `in zones with hours and half hours, before and after 1970`() throws {
    #expect(
      try end(Self.night, at: "2027-01-15T21:00:00Z", in: "Europe/Zurich") == "2027-01-16T06:00:00Z"
    )
    #expect(
      try end(Self.night, at: "2027-01-15T16:30:00Z", in: "Asia/Kolkata") == "2027-01-16T01:30:00Z")
    #expect(
      try end(Self.night, at: "2027-01-16T03:00:00Z", in: "America/New_York")
        == "2027-01-16T12:00:00Z")
    #expect(try end(Self.night, at: "2027-01-15T21:00:00Z", in: "America/New_York") == nil)
    #expect(try end(Self.night, at: "1969-12-30T23:00:00Z", in: "UTC") == "1969-12-31T07:00:00Z")
  }

  @Test func `the night in which the clock is put forward is an hour shorter`() throws {
    // In Zurich on 28 March 2027, 02:00 (01:00 UTC) is 03:00.
    let zone = "Europe/Zurich"
    #expect(try end(Self.night, at: "2027-03-27T21:30:00Z", in: zone) == "2027-03-28T05:00:00Z")
    #expect(try end(Self.night, at: "2027-03-28T01:30:00Z", in: zone) == "2027-03-28T05:00:00Z")
    // 02:30 does not come: the clock first shows a later time at 03:00.
    let short = QuietPeriod(from: 23 * 60, until: 150)
    #expect(try end(short, at: "2027-03-27T23:00:00Z", in: zone) == "2027-03-28T01:00:00Z")
    #expect(try end(short, at: "2027-03-28T01:00:00Z", in: zone) == nil)
    // Hours that do not come at all.
    let none = QuietPeriod(from: 130, until: 150)
    #expect(try end(none, at: "2027-03-28T00:59:59Z", in: zone) == nil)
    #expect(try end(none, at: "2027-03-28T01:10:00Z", in: zone) == nil)
  }

  @Test func `the night in which the clock is put back is an hour longer`() throws {
    // In Zurich on 31 October 2027, 03:00 (01:00 UTC) is 02:00.
    let zone = "Europe/Zurich"
    #expect(try end(Self.night, at: "2027-10-30T20:30:00Z", in: zone) == "2027-10-31T06:00:00Z")
    #expect(try end(Self.night, at: "2027-10-31T01:30:00Z", in: zone) == "2027-10-31T06:00:00Z")
    // 02:30 comes twice; between them the clock shows times of the hours again.
    let short = QuietPeriod(from: 23 * 60, until: 150)
    #expect(try end(short, at: "2027-10-30T22:00:00Z", in: zone) == "2027-10-31T00:30:00Z")
    #expect(try end(short, at: "2027-10-31T00:45:00Z", in: zone) == nil)
    #expect(try end(short, at: "2027-10-31T01:15:00Z", in: zone) == "2027-10-31T01:30:00Z")
    // At 03:00 it is 02:00 again.
    let long = QuietPeriod(from: 23 * 60, until: 180)
    #expect(try end(long, at: "2027-10-30T22:00:00Z", in: zone) == "2027-10-31T02:00:00Z")
  }

  @Test func `never ends in the past, and is not under way at its end`() throws {
    for name in ["Europe/Zurich", "Australia/Lord_Howe", "America/St_Johns", "Africa/Casablanca"] {
      let zone = try #require(TimeZone(identifier: name))
      for hour in stride(from: 0, to: 24 * 365, by: 7) {
        let time = Date(timeIntervalSince1970: 1_798_761_600 + Double(hour * 3600 + hour % 3600))
        for (from, until) in [(1320, 420), (60, 170), (1439, 0), (0, 1439)] {
          let period = try #require(QuietPeriod(from: from, until: until))
          guard let end = period.end(at: time, in: zone) else { continue }
          #expect(end > time && end.timeIntervalSince(time) <= 25 * 3600, "\(time) \(name)")
          #expect(period.end(at: end, in: zone) == nil, "\(time) \(name) \(from) \(until)")
        }
      }
    }
  }

  @Test func `is two different minutes of a day`() throws {
    for (from, until) in [(0, 0), (1440, 5), (-1, 5), (5, 1440)] {
      #expect(QuietPeriod(from: from, until: until) == nil)
    }
    for text in ["", "5", "5-5", "a-b", "1-2-3", "0-1440"] {
      #expect(QuietPeriod(rawValue: text) == nil, "\(text)")
    }
    #expect(Self.night?.rawValue == "1320-420")
    #expect(QuietPeriod(rawValue: "1320-420") == Self.night)
  }
}
