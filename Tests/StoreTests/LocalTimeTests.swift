import FoundationEssentials
import Testing

@testable import Store

/// Notifications whose recipients each have a time of their own.
@Suite(.timeLimit(.minutes(2))) struct LocalTimeTests {
  private let scratch = Scratch()
  private var first: Date { scratch.now + 60 }
  private var second: Date { scratch.now + 3600 }

  /// For alice at the first time, and for bob at the second.
  private func new(_ first: Date, _ second: Date, users: ([UserID], [UserID]) = ([alice], [bob]))
    -> NotificationInsert
  {
    var new = NotificationInsert.any()
    new.recipients = (users.0 + users.1).sorted()
    (new.localTime, new.notBefore) = ("2027-01-15T09:00 Europe/Zurich", min(first, second))
    new.times = [first: users.0, second: users.1]
    return new
  }

  private func push(to devices: [String], at time: Date) -> PushInsert {
    var push = PushInsert(
      lane: "fcm", target: .devices(RegistrationIDs(devices)), kind: "alert")
    push.scheduled = time
    return push
  }

  private func knows(_ user: UserID, _ store: Store) async throws -> Bool {
    let notifications = store.notifications
    let answers = [
      try await notifications.inbox(of: user, limit: 9).count == 1,
      try await notifications.unreadCount(of: user) == 1,
      try await notifications.unreadCounts(of: [user]) == [user: 1],
      try await notifications.isFetchRecorded(0, user: user, device: nil) != nil,
      try await notifications.record(.displayed, of: 0, user: user, device: nil),
      try await notifications.record(.dismissed, of: 0, user: user, device: nil),
      try await notifications.setHidden(false, 0, user: user),
    ]
    #expect(Set(answers).count == 1, "\(answers)")
    return answers[0]
  }

  /// Those of alice and bob who know of it.
  private func aware(_ store: Store) async throws -> [UserID] {
    var users: [UserID] = []
    for user in [alice, bob] where try await knows(user, store) { users.append(user) }
    return users
  }

  private func events(_ store: Store, of user: UserID) async throws -> Int {
    try await store.events.pushEvents(for: user, after: 0, limit: 9).count
  }

  @Test func `each recipient learns of one at its own time, once`() async throws {
    let store = try scratch.open()
    for (id, user) in [("a", alice), ("b", bob)] {
      try await store.register(id, of: user)
    }
    let (first, second) = (first, second)
    var new = new(first, second)
    new.pushes = [push(to: ["a"], at: first), push(to: ["b"], at: second)]
    let created = try await store.notifications.create(new).notification
    #expect(created.notBefore == first && created.localTime == new.localTime)
    #expect(try await aware(store) == [])
    #expect(try await store.outbox.nextDue(lane: "fcm") == first)
    #expect(try await store.administration.laneQueues().map(\.oldest) == [nil])
    #expect(try await store.events.releaseHeldEvents() == first)

    scratch.pass(60)
    #expect(try await store.events.releaseHeldEvents() == second)
    #expect(try await aware(store) == [alice])
    #expect(try await [events(store, of: alice), events(store, of: bob)] == [1, 0])
    // Bob's push waits for his time, not for the service.
    let leased = try await store.outbox.lease(lane: "fcm", limit: 9, until: scratch.now + 9)
    #expect(leased.map(\.user) == [alice])
    #expect(try await store.administration.laneQueues().map(\.oldest) == [first])
    try await store.outbox.settle(
      leased.map { ($0.id, .delivered(as: "alert", reference: nil, note: nil)) })
    #expect(try await store.administration.laneQueues().map(\.oldest) == [nil])
    #expect(try await store.outbox.nextDue(lane: "fcm") == second)

    // The next process goes on.
    let next = try scratch.open(.shared)
    scratch.pass(3539.999)
    #expect(try await !knows(bob, next))
    #expect(try await next.outbox.lease(lane: "fcm", limit: 9, until: scratch.now + 9).isEmpty)
    scratch.pass(0.001)
    #expect(try await next.events.releaseHeldEvents() == nil)
    #expect(try await next.events.releaseHeldEvents() == nil)
    #expect(try await knows(bob, next))
    #expect(try await [events(next, of: alice), events(next, of: bob)] == [1, 1])
    let last = try await next.outbox.lease(lane: "fcm", limit: 9, until: scratch.now + 9)
    #expect(last.map(\.user) == [bob])
    // What its user sees of it is the user's time.
    let seen = try await next.notifications.inbox(of: bob, limit: 9)
    #expect(seen.map(\.notification.notBefore) == [second])
  }

  @Test func `whose time has passed learns of it at once`() async throws {
    let store = try scratch.open()
    let (past, second) = (scratch.now - 7200, second)
    _ = try await store.notifications.create(new(past, second))
    #expect(try await aware(store) == [alice])
    #expect(try await [events(store, of: alice), events(store, of: bob)] == [1, 0])
    scratch.pass(3600)
    #expect(try await store.events.releaseHeldEvents() == nil)
    #expect(try await [events(store, of: alice), events(store, of: bob)] == [1, 1])
  }

  @Test func `a large audience learns of it in parts, each at its own time`() async throws {
    let store = try scratch.open()
    let names = Set((0..<1200).map { "user\($0)" })
    let users = try await store.accounts.userIDs(of: names, allowingPasswordless: true).values
      .sorted()
    let halves = (users.filter { $0.rawValue % 2 == 0 }, users.filter { $0.rawValue % 2 == 1 })
    let (first, second) = (first, second)
    _ = try await store.notifications.create(new(first, second, users: halves))
    #expect(try await store.notifications.writeNextParts(within: .zero))
    scratch.pass(60)
    // Some of the parts are written, some are not.
    let waiting = [try #require(halves.0.last), try #require(halves.1.last)]
    let notifications = store.notifications
    #expect(try await notifications.isFetchRecorded(0, user: waiting[0], device: nil) == false)
    #expect(try await notifications.isFetchRecorded(0, user: waiting[1], device: nil) == nil)
    #expect(try await notifications.markRead(0, user: waiting[0]))
    #expect(try await !notifications.markRead(0, user: waiting[1]))
    #expect(try await store.events.releaseHeldEvents() == second)
    while try await store.notifications.writeNextParts(within: .zero) {}
    for user in halves.0.prefix(5) { #expect(try await events(store, of: user) == 1) }
    for user in halves.1.suffix(5) {
      #expect(try await events(store, of: user) == 0)
      #expect(try await !knows(user, store))
    }
    scratch.pass(3600)
    #expect(try await store.events.releaseHeldEvents() == nil)
    while try await store.notifications.writeNextParts(within: .zero) {}
    for user in users { #expect(try await events(store, of: user) <= 1) }
    for user in halves.1 { #expect(try await events(store, of: user) == 1) }
    #expect(try await knows(waiting[1], store))
    #expect(try await events(store, of: waiting[0]) <= 1)
  }

  @Test func `its times can be changed and given up until the first`() async throws {
    let store = try scratch.open()
    let (first, second) = (first, second)
    _ = try await store.notifications.create(new(first, second))
    // A repetition changes nothing, also if the first time is another by now.
    let same = try await store.notifications.amend(0, with: new(first + 1, second))
    #expect(same?.notBefore == first)
    var other = new(second, first)
    other.localTime = "2027-01-15T09:00 Asia/Tokyo"
    #expect(try await store.notifications.amend(0, with: other)?.localTime == other.localTime)
    scratch.pass(60)
    #expect(try await store.events.releaseHeldEvents() == second)
    #expect(try await aware(store) == [bob])

    let third = try await store.notifications.create(new(first, second)).notification.id
    var atOnce = NotificationInsert.any(to: alice, bob)
    atOnce.message = "Now"
    _ = try #require(try await store.notifications.amend(third, with: atOnce))
    for user in [alice, bob] {
      let inbox = try await store.notifications.inbox(of: user, limit: 9)
      #expect(inbox.first?.notification.message == "Now")
    }
    #expect(try await store.events.releaseHeldEvents() == second)
  }

  @Test func `what is withdrawn between two times reaches nobody after it`() async throws {
    let store = try scratch.open()
    for (id, user) in [("a", alice), ("b", bob)] {
      try await store.register(id, of: user)
    }
    let (first, second) = (first, second)
    var new = new(first, second)
    new.pushes = [push(to: ["a"], at: first), push(to: ["b"], at: second)]
    _ = try await store.notifications.create(new)
    scratch.pass(60)
    _ = try await store.events.releaseHeldEvents()
    let leased = try await store.outbox.lease(lane: "fcm", limit: 9, until: scratch.now + 9)
    try await store.outbox.settle(
      leased.map { ($0.id, .delivered(as: "alert", reference: nil, note: nil)) })
    #expect(try await store.notifications.withdraw(0))
    scratch.pass(3600)
    #expect(try await store.events.releaseHeldEvents() == nil)
    #expect(try await store.outbox.lease(lane: "fcm", limit: 9, until: scratch.now + 9).isEmpty)
    #expect(try await events(store, of: bob) == 0)
    #expect(try await store.sent.counts(of: 0)?.sent == 1)
    #expect(try await store.outbox.deliveries(of: 0).map(\.state) == [.sent, .cancelled])
  }

  @Test func `what its sender may not send any more waits as a whole`() async throws {
    let store = try scratch.open()
    let (first, second) = (first, second)
    try await store.register("a", of: alice)
    var new = new(first, second)
    try await store.accounts.addUser("shop", hash: "", role: .publisher)
    new.sender = try await store.accounts.user(named: "shop")?.id
    new.pushes = [push(to: ["a"], at: second)]
    _ = try await store.notifications.create(new)
    _ = try await store.administration.putUser("shop", role: .device, hash: nil)
    scratch.pass(7200)
    #expect(try await store.events.releaseHeldEvents() == StoredNotification.untilReleased)
    for user in [alice, bob] {
      #expect(try await store.notifications.inbox(of: user, limit: 9).isEmpty)
      #expect(try await !store.notifications.markRead(0, user: user))
    }
    #expect(try await store.outbox.lease(lane: "fcm", limit: 9, until: scratch.now + 9).isEmpty)
    #expect(try await store.administration.laneQueues().map(\.oldest) == [nil])
    #expect(try await store.notifications.notification(0)?.held == first)
  }

  @Test func `the zones of devices are found if they are wanted`() async throws {
    let store = try scratch.open()
    for (id, user, zone) in [
      ("1", alice, "Asia/Tokyo"), ("2", alice, "Europe/Zurich"), ("3", bob, nil),
    ] {
      var change = RegistrationChange(platform: "apns", handle: id)
      (change.timeZone, change.tags) = (zone, ["all"])
      _ = try await store.accounts.putRegistration(id, user: user, change)
    }
    func devices(_ withZones: Bool) async throws -> AudienceDevices {
      try await store.accounts.audience(
        named: [], allowingPasswordless: false, matching: [TagClause(with: ["all"])],
        withZones: withZones
      ).devices
    }
    #expect(try await devices(true).map(\.zone) == ["Asia/Tokyo", "Europe/Zurich", nil])
    #expect(try await devices(false).map(\.zone) == [nil, nil, nil])
    let hours = try await devices(true).least { $0 == "Asia/Tokyo" ? 0 : $0 == nil ? 7 : 8 }
    #expect(hours == [alice: 0, bob: 7])
  }
}
