import Foundation
import Push
import RichPushAPI
import Testing
import Waiting

@testable import Delivery
@testable import Store

/// Notifications that go to at most so many devices a minute.
@Suite(.timeLimit(.minutes(2))) struct RateTests {
  private let start = Date(timeIntervalSince1970: 1_811_808_000)

  /// A server with so many users named `user0` and so on, each with a device; the zones are theirs in turn.
  private func delivery(_ users: Int, zones: [String?] = [nil]) async throws -> DeliveryFixture {
    let delivery = try await DeliveryFixture(clock: ManualClock(at: start))
    for number in 0..<users {
      let name = "user\(number)"
      try await delivery.store.accounts.addUser(name, hash: "", role: .device)
      let id = try await delivery.register("D\(number)", of: name, tags: ["all"])
      _ = try await delivery.store.accounts.changeSettings(of: id, user: delivery.id(name)) {
        $0.timeZone = zones[number % zones.count]
      }
    }
    return delivery
  }

  /// What the lane sends now, which is accepted.
  private func send(_ delivery: DeliveryFixture) async throws -> [PushJob] {
    let jobs = try await delivery.lease()
    _ = try await delivery.store.outbox.settleAndLease(
      jobs.map { ($0.id, .delivered(as: "alert", reference: nil, note: nil)) },
      lane: SendingLane("apns"), limit: 0, until: delivery.clock.date)
    return jobs
  }

  private func inbox(_ user: String, _ delivery: DeliveryFixture) async throws -> Int {
    try await delivery.store.notifications.inbox(
      of: delivery.id(user), unreadOnly: false, limit: 9, before: nil
    ).count
  }

  @Test func `ten a minute of a hundred devices get it, each once`() async throws {
    let delivery = try await delivery(98)
    // A person's devices get it one after the other.
    try await delivery.register("second", of: "user0", tags: ["all"])
    try await delivery.register("third", of: "user0", tags: ["all"])
    try await delivery.publish(delivery.draft(#","perMinute":10"#, to: #"["all"]"#))
    var handles: [String] = []
    for minute in 0..<10 {
      let jobs = try await send(delivery)
      #expect(jobs.count == 10, "minute \(minute)")
      for job in jobs {
        guard case .device(handle: let handle, platform: _) = job.push.target else { continue }
        handles.append(handle)
      }
      #expect(try await inbox("user97", delivery) == (minute == 9 ? 1 : 0))
      delivery.clock.advance(by: .seconds(59))
      #expect(try await delivery.lease().isEmpty)
      delivery.clock.advance(by: .seconds(1))
    }
    #expect(try await delivery.store.outbox.nextDue(lane: "apns") == nil)
    #expect(handles.count == 100 && Set(handles).count == 100)
    #expect(Set(handles.prefix(10)).isSuperset(of: ["D0", "second", "third"]))
  }

  @Test func `people's streams have it when their devices do`() async throws {
    let delivery = try await delivery(4)
    try await delivery.publish(delivery.draft(#","perMinute":2"#, to: #"["all"]"#))
    #expect(try await delivery.pushEvents(for: "user1").count == 1)
    #expect(try await delivery.pushEvents(for: "user2").isEmpty)
    #expect(try await delivery.store.events.releaseHeldEvents() == start + 60)
    delivery.clock.advance(by: .seconds(60))
    _ = try await delivery.store.events.releaseHeldEvents()
    #expect(try await delivery.pushEvents(for: "user2").count == 1)
    #expect(try await delivery.pushEvents(for: "user1").count == 1)
  }

  @Test func `zones whose turns meet share the rate, and none is before its local time`()
    async throws
  {
    // The first zone, an hour ahead, takes 62 minutes.
    let zones = Array(repeating: "Etc/GMT-1", count: 62) + ["UTC", "UTC"]
    let delivery = try await delivery(64, zones: zones)
    let at = String((start + 7200).formatted(.iso8601).prefix(16))
    let members = #","perMinute":1,"localTime":{"at":"\#(at)","zone":"UTC"}"#
    let draft = try delivery.draft(members, to: #"["all"]"#)
    let dry = try await delivery.publisher.dryRun(
      draft, sender: delivery.id("shop"), using: .all, now: start)
    #expect(dry.times == DryRun.Times(first: start + 3600, last: start + 3600 + 63 * 60, passed: 0))
    try await delivery.publish(draft)
    delivery.clock.advance(by: .seconds(3600))
    for _ in 0..<64 {
      #expect(try await send(delivery).count == 1)
      delivery.clock.advance(by: .seconds(60))
    }
    #expect(try await send(delivery).isEmpty)
  }

  @Test func `what was withdrawn while it went goes to nobody else`() async throws {
    let delivery = try await delivery(9)
    let published = try await delivery.publish(
      delivery.draft(#","perMinute":3"#, to: #"["all"]"#))
    #expect(try await send(delivery).count == 3)
    delivery.clock.advance(by: .seconds(60))
    #expect(try await send(delivery).count == 3)
    #expect(try await delivery.store.notifications.withdraw(published.notification.id))
    delivery.clock.advance(by: .seconds(60))
    #expect(try await send(delivery).isEmpty)
  }

  @Test func `a change goes to all again at the same rate, and leaves no inbox`() async throws {
    let delivery = try await delivery(6)
    let old = try await delivery.publish(delivery.draft(#","perMinute":2"#, to: #"["all"]"#))
      .notification
    func change(_ patch: String) throws -> Draft {
      try Draft(old, changedBy: Array(patch.utf8), allowing: [], now: delivery.clock.date)
    }
    #expect(try await send(delivery).count == 2)
    delivery.clock.advance(by: .seconds(60))
    #expect(try await send(delivery).count == 2)
    for _ in 0..<3 {
      // A repetition changes nothing.
      _ = try await delivery.publisher.amend(old, as: change(#"{"message":"Other"}"#), using: .all)
      #expect(try await inbox("user2", delivery) == 1)
      #expect(try await inbox("user5", delivery) == (delivery.clock.date == start + 180 ? 1 : 0))
      #expect(try await send(delivery).count == 2)
      delivery.clock.advance(by: .seconds(60))
    }
    #expect(try await send(delivery).isEmpty)
    let late = #expect(throws: ServiceError.self) { try change(#"{"perMinute":3}"#) }
    #expect(late?.reason.contains("perMinute cannot be changed") == true)
  }

  @Test func `one that would take too long is refused with how long`() async throws {
    let delivery = try await delivery(5)
    let expires = (start + 230).formatted(.iso8601)
    let early = try await delivery.refusal(
      delivery.draft(#","perMinute":1,"expires":"\#(expires)""#, to: #"["all"]"#))
    #expect(early.code == .rejected && early.faults.map(\.member) == ["expires"])
    #expect(early.reason.contains((start + 240).formatted(.iso8601)))
    let later = (start + 260).formatted(.iso8601)
    try await delivery.publish(
      delivery.draft(#","perMinute":1,"expires":"\#(later)""#, to: #"["all"]"#))
    for wrong in ["0", "1000001", #""1""#, "1.5", #"1,"replaces":"x""#] {
      #expect(throws: ServiceError.self) {
        try delivery.draft(#","perMinute":\#(wrong)"#, to: #"["all"]"#)
      }
    }
  }

  @Test func `more than a day's devices are refused with the rate that they need`() async throws {
    let delivery = try await delivery(1)
    let draft = try delivery.draft(#","perMinute":1"#)
    var found = Announcement.Addressees()
    let users = (1...2000).map(UserID.init(rawValue:))
    found.users = Set(users)
    // Each of them may have an app that is connected.
    let error = #expect(throws: ServiceError.self) {
      try SendTimes(of: draft, for: found, users, by: delivery.lanes, now: start)
    }
    #expect(error?.reason.contains("1 d 9 h 20 min") == true, "\(error?.reason ?? "")")
    #expect(error?.reason.contains("at least 2") == true)
  }
}
