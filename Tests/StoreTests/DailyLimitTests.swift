import FoundationEssentials
import Testing

@testable import Store

/// At most so many notifications a day for a person.
@Suite(.timeLimit(.minutes(2))) struct DailyLimitTests {
  private let scratch = Scratch()

  private func rules(_ most: Int) -> SendingRules {
    var rules = SendingRules()
    rules.mostADay = most
    return rules
  }

  private func register(
    _ id: String, of user: UserID = alice, platform: String = "apns", in store: Store
  ) async throws {
    let change = RegistrationChange(platform: platform, handle: id)
    _ = try await store.accounts.putRegistration(id, user: user, change)
  }

  private func new(
    to devices: [String] = ["a"], users: [UserID] = [alice], lane: String = "apns",
    collapse: String? = nil, isUrgent: Bool = false
  ) -> NotificationInsert {
    var push = PushInsert(
      lane: lane, target: .devices(RegistrationIDs(devices)), kind: "alert")
    (push.isUrgent, push.collapseID) = (isUrgent, collapse)
    var new = NotificationInsert.any(to: users)
    (new.pushes, new.event) = ([push], nil)
    return new
  }

  private func lease(_ store: Store, lane: String = "apns") async throws -> [LeasedJob] {
    try await store.outbox.lease(lane: lane, limit: 10, until: scratch.now + 60)
  }

  /// Sends what is due, and returns which notifications that were.
  private func send(_ store: Store) async throws -> [Int] {
    let jobs = try await lease(store)
    try await store.outbox.settle(
      jobs.map { ($0.id, .delivered(as: "alert", reference: nil, note: nil)) })
    return jobs.compactMap(\.notificationID).sorted()
  }

  @Test func `the third of a day is not pushed but in the inbox, an urgent one is`() async throws {
    let store = try scratch.open(rules: rules(2))
    for (id, user) in [("a", alice), ("a2", alice), ("b", bob)] {
      try await register(id, of: user, in: store)
    }
    // Two devices of a person count once.
    for _ in 0..<2 {
      _ = try await store.notifications.create(
        new(to: ["a", "a2", "b"], users: [alice, bob]))
    }
    #expect(try await send(store) == [0, 0, 0, 1, 1, 1])
    _ = try await store.notifications.create(new(to: ["a", "a2"]))
    _ = try await store.notifications.create(new(to: ["a"], isUrgent: true))
    scratch.pass(86_399)
    #expect(try await send(store) == [3])
    let why = "the person had 2 notifications in 24 hours"
    let above = try await store.outbox.deliveries(of: 2)
    #expect(above.map(\.state) == [.cancelled, .cancelled])
    #expect(Set(above.map(\.reason)) == [why])
    #expect(
      try await store.notifications.inbox(of: alice, limit: 9).map(\.notification.id)
        == [3, 2, 1, 0])
    let found = try await store.statistics.statistics(
      of: 2, since: scratch.now, hasEnded: false, unserved: [], among: nil)
    #expect(found.unreachable.map(\.why) == [UnreachedRecipients(cause: .cancelled, reason: why)])
    // The urgent one counts, the first two do not any more.
    scratch.pass(1)
    _ = try await store.collect(Retention())
    for _ in 0..<2 { _ = try await store.notifications.create(new()) }
    #expect(try await send(store) == [4])
    #expect(try await store.outbox.deliveries(of: 5).map(\.reason) == [why])
  }

  @Test func `what takes the place of another counts with it, as do attempts and changes`()
    async throws
  {
    let store = try scratch.open(rules: rules(1))
    try await register("a", in: store)
    _ = try await store.notifications.create(new(collapse: "replaces-1"))
    let first = try await lease(store)
    try await store.outbox.settle(
      first.map { ($0.id, .retry(at: scratch.now + 60, reason: "503")) })
    scratch.pass(60)
    #expect(try await send(store) == [0])
    _ = try await store.notifications.create(new(collapse: "replaces-1"))
    #expect(try await send(store) == [1])
    _ = try await store.notifications.create(new())
    #expect(try await send(store) == [])
    scratch.pass(86_400)
    _ = try await store.notifications.create(new())
    #expect(try await send(store) == [3])
    var changed = new()
    changed.message = "Changed"
    _ = try #require(try await store.notifications.amend(3, with: changed))
    #expect(try await send(store) == [3])
  }

  @Test func `two nodes together push a person no more than that`() async throws {
    let store = try scratch.open(rules: rules(3))
    let other = try scratch.open(.shared, rules: rules(3))
    try await register("a", in: store)
    try await register("f", platform: "fcm", in: store)
    for _ in 0..<5 {
      _ = try await store.notifications.create(new())
      _ = try await store.notifications.create(new(to: ["f"], lane: "fcm"))
    }
    async let one = lease(store)
    async let two = lease(other, lane: "fcm")
    #expect(try await one.count + two.count == 3)
    let left = try await store.outbox.jobs(in: .cancelled, limit: 20)
    #expect(left.count == 7)
  }

  @Test func `without a limit nothing is counted`() async throws {
    let store = try scratch.open()
    try await register("a", in: store)
    for _ in 0..<5 { _ = try await store.notifications.create(new()) }
    #expect(try await send(store).count == 5)
    #expect(try await store.count("daily_push") == 0)
  }
}
