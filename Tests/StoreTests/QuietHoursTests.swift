import FoundationEssentials
import Synchronization
import Testing

@testable import Store

/// Pushes to devices that have quiet hours.
@Suite(.timeLimit(.minutes(2))) struct QuietHoursTests {
  /// 23:00 in Zurich, on 15 January 2027.
  private let scratch = Scratch(at: 1_800_050_400)
  private static let night = QuietPeriod(from: 22 * 60, until: 7 * 60)
  /// 07:00 in Zurich.
  private var morning: Date { Date(timeIntervalSince1970: 1_800_079_200) }

  private func register(
    _ id: String, of user: UserID = alice, quiet: QuietPeriod? = night,
    zone: String? = "Europe/Zurich", lane: String? = nil, in store: Store
  ) async throws {
    var change = RegistrationChange(platform: "apns", handle: "token \(id)")
    (change.quietPeriod, change.timeZone, change.lane) = (quiet, zone, lane)
    #expect(
      try await store.accounts.putRegistration(id, user: user, change) == .stored(endedOf: nil))
  }

  private func new(
    to devices: [String], users: [UserID] = [alice], collapse: String? = nil,
    isUrgent: Bool = false
  ) -> NotificationInsert {
    var push = PushInsert(
      lane: "apns", target: .devices(RegistrationIDs(devices)), kind: "alert")
    (push.isUrgent, push.collapseID) = (isUrgent, collapse)
    var new = NotificationInsert.any(to: alice)
    (new.recipients, new.pushes) = (users, [push])
    return new
  }

  private func lease(_ store: Store, _ limit: Int = 10) async throws -> [LeasedJob] {
    try await store.outbox.lease(limit: limit, until: scratch.now + 60)
  }

  private func send(_ jobs: [LeasedJob], _ store: Store) async throws {
    let delivered = JobOutcome.delivered(as: "alert", reference: nil, note: nil)
    try await store.outbox.settle(jobs.map { ($0.id, delivered) })
  }

  @Test func `a push waits until they end, and others do not wait for it`() async throws {
    let store = try scratch.open()
    try await register("quiet", in: store)
    try await register("awake", quiet: nil, in: store)
    try await register("west", zone: "America/New_York", in: store)
    // UTC, where it is 22:00.
    try await register("nowhere", zone: nil, in: store)
    _ = try await store.notifications.create(new(to: ["quiet", "awake", "west", "nowhere"]))
    let now = try await lease(store)
    #expect(now.map(\.target.handle) == ["token awake", "token west"])
    try await send(now, store)
    let waiting = try await store.outbox.deliveries(of: 0).filter { $0.state == .queued }
    #expect(waiting.map(\.registration) == ["quiet", "nowhere"])
    #expect(waiting.map(\.due) == [morning, morning + 3600])
    #expect(waiting.map(\.attempts) == [0, 0])
    #expect(waiting.allSatisfy { $0.reason == "the device has quiet hours" })
    #expect(try await store.sent.counts(of: 0)?.queued == 2)
    #expect(try await store.outbox.nextDue(lane: "apns") == morning)
    #expect(try await store.administration.laneQueues().map(\.oldest) == [nil])

    scratch.pass(morning.timeIntervalSince(scratch.now) - 0.001)
    #expect(try await lease(store).isEmpty)
    scratch.pass(0.001)
    #expect(try await store.administration.laneQueues().map(\.oldest) == [morning])
    let later = try await lease(store)
    #expect(later.map(\.target.handle) == ["token quiet"])
    // What it waits for now is the service.
    try await store.outbox.settle(
      later.map { ($0.id, .retry(at: scratch.now + 60, reason: "503")) })
    #expect(try await store.administration.laneQueues().map(\.oldest) == [morning])
    scratch.pass(60)
    try await send(lease(store), store)
    scratch.pass(3600)
    try await send(lease(store), store)
    #expect(try await store.sent.counts(of: 0)?.sent == 4)
  }

  @Test func `an urgent push passes, also one that an earlier one would hold up`() async throws {
    let store = try scratch.open()
    try await register("quiet", in: store)
    _ = try await store.notifications.create(new(to: ["quiet"], collapse: "c"))
    #expect(try await lease(store).isEmpty)
    _ = try await store.notifications.create(new(to: ["quiet"], collapse: "c", isUrgent: true))
    _ = try await store.notifications.create(new(to: ["quiet"], collapse: "c"))
    let urgent = try await lease(store)
    #expect(urgent.map(\.notificationID) == [1])
    try await send(urgent, store)
    #expect(try await lease(store).isEmpty)
    #expect(try await store.outbox.nextDue(lane: "apns") == morning)
    scratch.pass(morning.timeIntervalSince(scratch.now))
    // In their order, one after the other.
    for expected in [0, 2] {
      let next = try await lease(store)
      #expect(next.map(\.notificationID) == [expected])
      try await send(next, store)
    }
  }

  @Test func `what was read, hidden, withdrawn or has expired meanwhile is not sent`() async throws
  {
    let store = try scratch.open()
    try await register("quiet", in: store)
    for _ in 0..<4 { _ = try await store.notifications.create(new(to: ["quiet"])) }
    var brief = new(to: ["quiet"])
    brief.expires = scratch.now + 600
    _ = try await store.notifications.create(brief)
    #expect(try await lease(store).isEmpty)
    #expect(try await store.outbox.nextDue(lane: "apns") == scratch.now + 600)
    #expect(try await store.notifications.markRead(0, user: alice))
    #expect(try await store.notifications.setHidden(true, 1, user: alice))
    #expect(try await store.notifications.withdraw(2))
    scratch.pass(600)
    // It is leased to be settled as expired, as any other.
    let expired = try await lease(store)
    #expect(expired.map(\.notificationID) == [4])
    try await store.outbox.settle(expired.map { ($0.id, .expired) })
    scratch.pass(morning.timeIntervalSince(scratch.now))
    let left = try await lease(store)
    #expect(left.map(\.notificationID) == [3])
    try await send(left, store)
    let states = try await store.outbox.jobs(limit: 9).map(\.state)
    #expect(states == [.expired, .sent, .cancelled, .cancelled, .cancelled])
    let read = try #require(try await store.outbox.deliveries(of: 0).first)
    #expect(read.reason == "it was read in the quiet hours")
    let events = try await store.events.events(after: 0, for: nil, limit: 99)
    #expect(
      events.contains { $0.data.contains(#""notification":0,"#) && $0.data.contains("cancelled") })
  }

  @Test func `with other settings it is looked at again at once`() async throws {
    let store = try scratch.open()
    let woken = Mutex<[Set<String>]>([])
    try await register("quiet", in: store)
    _ = try await store.notifications.create(new(to: ["quiet"]))
    var scheduled = new(to: ["quiet"])
    scheduled.notBefore = scratch.now + 100
    _ = try await store.notifications.create(scheduled)
    #expect(try await lease(store).isEmpty)
    store.observers.onJobs.add { lanes in woken.withLock { $0.append(lanes) } }
    func set(_ change: @escaping @Sendable (inout DeviceSettings) -> Void) async throws {
      #expect(
        try await store.accounts.changeSettings(of: "quiet", user: alice, change)?.id == "quiet")
    }
    try await set { $0.quietPeriod = QuietPeriod(from: 22 * 60, until: 8 * 60) }
    #expect(try await lease(store).isEmpty)
    #expect(
      try await store.outbox.jobs(limit: 9).map(\.due) == [scratch.now + 100, morning + 3600])
    #expect(woken.withLock { $0 } == [["apns"]])
    try await set { $0.timeZone = "America/New_York" }
    let jobs = try await lease(store)
    #expect(jobs.map(\.notificationID) == [0], "what is scheduled stays so")
    // While it is being sent, its lease stays.
    try await set { $0.quietPeriod = Self.night }
    #expect(try await lease(store).isEmpty)
    try await send(jobs, store)
    #expect(
      try await store.accounts.changeSettings(of: "quiet", user: bob) { $0.name = "x" } == nil)
  }

  /// From 21:00 to 08:00, in Tokyo where a device has no zone.
  private func teamRules() throws -> SendingRules {
    var rules = SendingRules(zone: try #require(TimeZone(identifier: "Asia/Tokyo")))
    rules.quietPeriod = QuietPeriod(from: 21 * 60, until: 8 * 60)
    return rules
  }

  @Test func `the team's hours are in each device's zone, and the later end counts`() async throws {
    let store = try scratch.open(rules: teamRules())
    // 23:00 in Zurich, 17:00 in New York, 07:00 in Tokyo.
    try await register("night", quiet: nil, in: store)
    try await register("both", in: store)
    try await register("later", quiet: QuietPeriod(from: 0, until: 23 * 60 + 59), in: store)
    try await register("west", quiet: nil, zone: "America/New_York", in: store)
    try await register("nowhere", quiet: nil, zone: nil, in: store)
    _ = try await store.notifications.create(
      new(to: ["night", "both", "later", "west", "nowhere"]))
    // The server's zone, as for a push that is to no single device.
    var shared = NotificationInsert.any(to: alice)
    shared.pushes = [PushInsert(lane: "apns", target: .audience("news"), kind: "alert")]
    _ = try await store.notifications.create(shared)
    let sent = try await lease(store)
    #expect(sent.map(\.target.handle) == ["token west"])
    try await send(sent, store)
    let waiting = try await store.outbox.jobs(in: .queued, limit: 9).reversed()
    #expect(waiting.map(\.registration) == ["night", "both", "later", "nowhere", nil])
    let (eight, tokyo) = (morning + 3600, scratch.now + 3600)
    #expect(waiting.map(\.due) == [eight, eight, eight, tokyo, tokyo])
    #expect(Set(waiting.map(\.reason)) == ["these are quiet hours for all devices"])
    scratch.pass(3600)
    #expect(try await lease(store).count == 2)
    scratch.pass(eight.timeIntervalSince(scratch.now))
    // One device has hours of its own until 23:59.
    let late = try await lease(store).compactMap(\.target.handle)
    #expect(Set(late).isSuperset(of: ["token both", "token night"]))
    #expect(!late.contains("token later"))
  }

  @Test func `an urgent push passes the team's hours, and a device that is gone fails`()
    async throws
  {
    let store = try scratch.open(rules: teamRules())
    try await register("night", quiet: nil, in: store)
    _ = try await store.notifications.create(new(to: ["night"], isUrgent: true))
    let urgent = try await lease(store)
    #expect(urgent.map(\.notificationID) == [0])
    try await send(urgent, store)
    _ = try await store.notifications.create(new(to: ["night"]))
    _ = try await store.accounts.removeRegistration("night", user: alice)
    #expect(try await lease(store).isEmpty)
    let gone = try #require(try await store.outbox.deliveries(of: 1).first)
    #expect(gone.state == .failed && gone.reason == "the device is gone")
  }

  @Test func `thousands that wait do not keep others from being sent`() async throws {
    let store = try scratch.open()
    let quiet = (0..<3000).map { "quiet-\($0)" }
    if let tables = store.tables as? PostgresTables {
      try await tables.database.run(
        """
        INSERT INTO registration(id, user_id, platform, handle, updated, quiet_hours, time_zone)
        SELECT name, 1, 'apns', name, 0, '1320-420', 'Europe/Zurich' FROM unnest($1::text[]) AS name
        """, quiet)
    } else {
      try await store.database.run(
        """
        INSERT INTO registration(id, user_id, platform, handle, updated, quiet_hours, time_zone)
        SELECT value, 1, 'apns', value, 0, '1320-420', 'Europe/Zurich' FROM json_each($1)
        """, quiet)
    }
    for start in stride(from: 0, to: 3000, by: 1000) {
      _ = try await store.notifications.create(new(to: Array(quiet[start..<start + 990])))
    }
    try await register("awake", of: bob, quiet: nil, in: store)
    _ = try await store.notifications.create(new(to: ["awake"], users: [bob]))
    let jobs = try await lease(store)
    #expect(jobs.map(\.target.handle) == ["token awake"])
    #expect(try await store.outbox.nextDue(lane: "apns") == scratch.now + 60)
    try await send(jobs, store)
    #expect(try await store.outbox.nextDue(lane: "apns") == morning)
  }

  @Test func `a device with quiet hours is neither probe nor trial`() async throws {
    let store = try scratch.open()
    let lane = SendingLane("apns")
    func lease() async throws -> [LeasedJob] {
      try await store.outbox.settleAndLease([], lane: lane, limit: 10, until: scratch.now + 60).jobs
    }
    try await register("quiet", in: store)
    try await register("awake", of: bob, quiet: nil, in: store)
    _ = try await store.notifications.create(new(to: ["quiet"]))
    _ = try await store.notifications.create(new(to: ["awake"], users: [bob]))
    _ = try await store.outbox.settleAndLease(
      [], lane: lane, limit: 0, until: scratch.now)
    let first = try await lease()
    #expect(first.map(\.target.handle) == ["token awake"])
    _ = try await store.outbox.settleAndLease(
      first.map { ($0.id, .stopped(reason: "wrong settings")) }, lane: lane, limit: 0,
      until: scratch.now)
    // Another push for the quiet device comes while the lane is paused.
    _ = try await store.notifications.create(new(to: ["quiet"]))
    #expect(try await lease().isEmpty)
    scratch.pass(61)
    #expect(try await lease().map(\.target.handle) == ["token awake"])
    #expect(try await store.outbox.deliveries(of: 2).map(\.due) == [morning])
  }
}

extension LeasedJob.Target {
  fileprivate var handle: String? { if case .device(let handle, _) = self { handle } else { nil } }
}
