import Foundation
import Push
import RichPushAPI
import Testing
import Waiting

@testable import Delivery
@testable import Store

/// Notifications at a time by the clock of each recipient.
@Suite(.timeLimit(.minutes(2))) struct LocalTimeTests {
  /// One for each offset from UTC that is in use.
  static let zones = [
    "Etc/GMT+12", "Pacific/Pago_Pago", "Pacific/Honolulu", "Pacific/Marquesas", "America/Anchorage",
    "America/Los_Angeles", "America/Denver", "America/Chicago", "America/New_York",
    "America/Halifax", "America/St_Johns", "America/Sao_Paulo", "Atlantic/South_Georgia",
    "Atlantic/Azores", "UTC", "Europe/London", "Europe/Berlin", "Europe/Athens", "Europe/Moscow",
    "Asia/Tehran", "Asia/Dubai", "Asia/Kabul", "Asia/Karachi", "Asia/Kolkata", "Asia/Kathmandu",
    "Asia/Dhaka", "Asia/Yangon", "Asia/Bangkok", "Asia/Singapore", "Australia/Eucla",
    "Asia/Tokyo", "Australia/Adelaide", "Australia/Sydney", "Australia/Lord_Howe",
    "Pacific/Auckland", "Pacific/Chatham", "Pacific/Tongatapu", "Pacific/Kiritimati",
  ]

  /// The first minute at which a clock in the zone shows the time, or has just passed over it, found by looking at each.
  private func shown(_ at: String, in zone: TimeZone) throws -> Date {
    let reading = try #require(try? Date(at + ":00Z", strategy: .iso8601))
    func clock(_ time: Date) -> Date { time + Double(zone.secondsFromGMT(for: time)) }
    let minutes = (0..<2 * 1440).map { reading - 86_400 + Double($0 * 60) }
    if let exact = minutes.first(where: { clock($0) == reading }) { return exact }
    // The clock has just passed over it: as long after the change as it would have been after its start.
    let change = try #require(minutes.first { clock($0) > reading })
    let skipped = reading.timeIntervalSince(clock(change - 60) + 60)
    return change + skipped
  }

  @Test(arguments: [
    // Europe puts its clocks back, and forward; America; Australia.
    "2027-10-31T02:30", "2027-03-28T02:30", "2027-03-28T03:00", "2027-11-07T01:30",
    "2027-03-14T02:00", "2027-04-04T02:45", "2027-10-03T02:15", "2027-06-01T09:00",
    "2027-12-31T23:59", "2027-01-01T00:00",
  ])
  func `is at its minute in 38 zones, also across a change of clocks`(_ at: String) async throws {
    #expect(Set(Self.zones).count == 38)
    let time = LocalTime(at: at, zone: "UTC")
    for name in Self.zones {
      let zone = try #require(TimeZone(identifier: name))
      #expect(time.date(in: zone) == (try shown(at, in: zone)), "\(name)")
    }
  }

  private func register(
    _ handle: String, of user: String, in zone: String?, _ delivery: DeliveryFixture
  ) async throws {
    let id = try await delivery.register(handle, of: user, tags: ["all"])
    _ = try await delivery.store.accounts.changeSettings(of: id, user: delivery.id(user)) {
      $0.timeZone = zone
    }
  }

  private static func member(_ at: String, _ zone: String = "Europe/Berlin") -> String {
    #","localTime":{"at":"\#(at)","zone":"\#(zone)"}"#
  }

  @Test func `each device gets its push by its own clock, in one lane and once`() async throws {
    let start = try #require(try? Date("2027-10-30T00:00:00Z", strategy: .iso8601))
    let delivery = try await DeliveryFixture(clock: ManualClock(at: start))
    for (number, zone) in Self.zones.enumerated() {
      try await delivery.store.accounts.addUser("user\(number)", hash: "", role: .device)
      try await register("D\(number)", of: "user\(number)", in: zone, delivery)
    }
    try await delivery.publish(
      delivery.draft(Self.member("2027-10-31T02:30"), to: #"["all"]"#))
    var expected: [String: Date] = [:]
    for (number, name) in Self.zones.enumerated() {
      let zone = try #require(TimeZone(identifier: name))
      expected["D\(number)"] = try shown("2027-10-31T02:30", in: zone)
    }
    var sent: [String: Date] = [:]
    while let next = try await delivery.store.outbox.nextDue(lane: "apns") {
      delivery.clock.advance(by: .seconds(next.timeIntervalSince(delivery.clock.date) - 0.001))
      #expect(try await delivery.lease().isEmpty)
      delivery.clock.advance(by: .milliseconds(1))
      let jobs = try await delivery.lease()
      try #require(!jobs.isEmpty)
      for job in jobs {
        guard case .device(handle: let handle, platform: _) = job.push.target else { continue }
        #expect(sent.updateValue(next, forKey: handle) == nil)
      }
      _ = try await delivery.store.outbox.settleAndLease(
        jobs.map { ($0.id, .delivered(as: "alert", reference: nil, note: nil)) },
        lane: SendingLane("apns"),
        limit: 0, until: next)
    }
    #expect(sent == expected)
  }

  @Test func `without a zone it is the sender's, and a user knows of it from the first`()
    async throws
  {
    let start = try #require(try? Date("2027-06-01T00:00:00Z", strategy: .iso8601))
    let delivery = try await DeliveryFixture(clock: ManualClock(at: start))
    try await register("A1", of: "alice", in: "America/New_York", delivery)
    try await register("A2", of: "alice", in: "Asia/Tokyo", delivery)
    let to = #"["username:alice","username:bob"]"#
    let draft = try delivery.draft(Self.member("2027-06-01T09:00"), to: to)
    let dry = try await delivery.publisher.dryRun(
      draft, sender: delivery.id("shop"), using: .all, now: start)
    // Tokyo's is at midnight UTC.
    let berlin = start + 7 * 3600
    #expect(dry.times == DryRun.Times(first: start, last: berlin, passed: 1))
    let created = try await delivery.publish(draft).notification
    #expect(created.notBefore == start)
    #expect(try await delivery.pushEvents(for: "alice").count == 1)
    #expect(try await delivery.pushEvents(for: "bob").isEmpty)
    #expect(try await delivery.store.events.releaseHeldEvents() == berlin)
    #expect(try await delivery.lease().count == 1)
    #expect(try await delivery.store.outbox.nextDue(lane: "apns") == start + 100)
    delivery.clock.advance(by: .seconds(7 * 3600))
    _ = try await delivery.store.events.releaseHeldEvents()
    #expect(try await delivery.pushEvents(for: "bob").count == 1)
  }

  @Test func `can be changed until the first gets it`() async throws {
    let start = try #require(try? Date("2027-06-01T00:00:00Z", strategy: .iso8601))
    let delivery = try await DeliveryFixture(clock: ManualClock(at: start))
    try await register("A1", of: "alice", in: "America/New_York", delivery)
    var stored = try await delivery.publish(delivery.draft(Self.member("2027-06-01T09:00")))
      .notification
    func amend(_ patch: String) async throws {
      let draft = try Draft(
        stored, changedBy: Array(patch.utf8), allowing: [], now: delivery.clock.date)
      stored = try await delivery.publisher.amend(stored, as: draft, using: .all)
    }
    #expect(stored.notBefore == start + 13 * 3600)
    try await amend(#"{"localTime":{"at":"2027-06-01T10:00"}}"#)
    #expect(stored.notBefore == start + 14 * 3600)
    #expect(stored.localTime == "2027-06-01T10:00 Europe/Berlin")
    try await amend(#"{"message":"Other"}"#)
    #expect(stored.notBefore == start + 14 * 3600)
    try await amend(#"{"localTime":null,"notBefore":"2027-06-01T03:00:00Z"}"#)
    #expect(stored.localTime == nil && stored.notBefore == start + 3 * 3600)
    delivery.clock.advance(by: .seconds(3 * 3600))
    _ = try await delivery.store.events.releaseHeldEvents()
    #expect(try await delivery.lease().count == 1)
    #expect(try await delivery.pushEvents(for: "alice").count == 1)
    let late = await #expect(throws: ServiceError.self) {
      try await amend(#"{"localTime":{"at":"2027-06-01T10:00","zone":"UTC"}}"#)
    }
    #expect(late?.code == .conflict)
  }

  @Test(arguments: [
    (#""at":"2027-06-01T09:00","zone":"Europe/Bern""#, "zone of localTime"),
    (#""at":"2027-06-01T09:00","zone":"""#, "zone of localTime"),
    (#""at":"2027-02-29T09:00","zone":"UTC""#, "at of localTime"),
    (#""at":"2027-06-01T24:00","zone":"UTC""#, "at of localTime"),
    (#""at":"2027-06-01T09:00Z","zone":"UTC""#, "at of localTime"),
    (#""at":"2027-06-01 09:00","zone":"UTC""#, "at of localTime"),
    (#""at":"1999-06-01T09:00","zone":"UTC""#, "at of localTime"),
    (#""at":"２027-06-01T09:00","zone":"UTC""#, "at of localTime"),
    (
      #""at":"2027-06-01T09:00","zone":"UTC"},"notBefore":"2027-06-01T09:00:00Z","data":{"#,
      "notBefore"
    ),
    (
      #""at":"2027-06-01T09:00","zone":"UTC"},"replaces":"x","data":{"#,
      "without notBefore, localTime and perMinute"
    ),
    (
      #""at":"2027-06-01T09:00","zone":"UTC"},"expires":"2027-06-01T21:00:00Z","data":{"#,
      "2027-06-01T21:00:00Z"
    ),
  ])
  func `what is no time is refused`(_ members: String, _ reason: String) throws {
    let json = #"{"message":"m","to":["all"],"localTime":{\#(members)}}"#
    let start = try #require(try? Date("2027-05-01T00:00:00Z", strategy: .iso8601))
    let error = #expect(throws: ServiceError.self) {
      try Draft(Array(json.utf8), allowing: [], now: start)
    }
    #expect(error?.reason.contains(reason) == true, "\(error?.reason ?? "")")
    let wrong = #"{"message":"m","to":["all"],"localTime":"2027-06-01T09:00"}"#
    #expect(throws: ServiceError.self) { try Draft(Array(wrong.utf8), allowing: [], now: start) }
  }
}
