import FoundationEssentials
import Testing

@testable import Store

/// What became of notifications: with how many recipients, when, and why not.
@Suite(.timeLimit(.minutes(2))) struct StatisticsTests {
  private let scratch = Scratch()

  private func statistics(
    _ store: Store, _ id: Int = 0, since start: Date? = nil, hasEnded: Bool = false,
    unserved: Set<String> = []
  ) async throws -> CountedNotification {
    try await store.statistics.statistics(
      of: id, since: start ?? Date(timeIntervalSince1970: 1_800_000_000), hasEnded: hasEnded,
      unserved: unserved, among: nil)
  }

  private func register(
    _ store: Store, _ id: String, _ user: UserID, _ platform: String = "apns",
    language: String? = nil
  ) async throws {
    var change = RegistrationChange(platform: platform, handle: "handle \(id)")
    change.language = language
    _ = try await store.accounts.putRegistration(id, user: user, change)
  }

  /// Creates a notification with a push to each of some devices.
  private func create(
    _ store: Store, to users: [UserID], devices: [String]
  ) async throws -> [LeasedJob] {
    var new = NotificationInsert.any(to: alice)
    (new.sender, new.recipients, new.event) = (shop, users, nil)
    new.pushes = [
      PushInsert(lane: "apns", target: .devices(RegistrationIDs(devices)), kind: "alert")
    ]
    _ = try await store.notifications.create(new)
    return try await store.outbox.lease(lane: "apns", limit: 99, until: scratch.now + 60)
  }

  @Test func `each recipient counts once, however many devices and receipts there are`()
    async throws
  {
    let store = try scratch.open()
    for (id, user) in [("a", alice), ("b", alice), ("c", bob), ("d", carol)] {
      try await register(store, id, user)
    }
    let jobs = try await create(
      store, to: [alice, bob, carol, news], devices: ["a", "b", "c", "d"])
    var found = try await statistics(store)
    #expect(found.funnel.recipients == 4 && found.funnel.waiting == 3)
    #expect(found.unreachable.map(\.why.cause) == [.noDevice])

    scratch.pass(5)
    try await store.outbox.settle([
      (jobs[0].id, .delivered(as: "alert", reference: nil, note: nil)),
      (jobs[1].id, .delivered(as: "alert", reference: nil, note: nil)),
      (jobs[2].id, .rejected(reason: "Unregistered")),
    ])
    scratch.pass(10)
    for event in ReportedEvent.allCases {
      for device in ["a", "b"] {
        #expect(try await store.notifications.record(event, of: 0, user: alice, device: device))
      }
    }
    // What has come in spite of it counts.
    store.notifications.recordFetched(0, user: news)
    _ = try await store.interactions.add(
      InteractionInsert(action: "yes", of: 0, user: alice, device: "a"))
    _ = try await store.interactions.add(
      InteractionInsert(reply: "r", key: "k", to: "yes", of: 0, user: alice, device: "a"))
    try await store.probe()
    found = try await statistics(store)
    #expect(
      [found.funnel.recipients, found.funnel.waiting, found.funnel.unreachable] == [4, 1, 1])
    #expect(CourseStep.allCases.map { found.funnel[$0] } == [2, 1, 1, 1, 0, 1, 0, 0])
    #expect(
      found.unreachable.map(\.why)
        == [UnreachedRecipients(cause: .failed, reason: "Unregistered")])
    #expect(found.course.length == 10)
    #expect(found.course[.sent] == [1, 1] && found.course[.displayed] == [0, 1])
    #expect(found.course[.actions] == [0, 1] && found.course[.replies] == [0, 1])
    // They equal the receipts and the counts.
    let receipts = try await store.notifications.receipts(of: 0)
    let counts = try #require(try await store.sent.counts(of: 0))
    #expect(found.funnel.recipients == receipts.count && counts.recipients == receipts.count)
    #expect(found.funnel[.opened] == receipts.filter { $0.opened != nil }.count)
    #expect(found.funnel[.fetched] == counts.fetched && found.funnel[.opened] == counts.opened)
    #expect(found.course[.replies].reduce(0, +) == counts.replies)
  }

  @Test func `why it does not reach somebody is told`() async throws {
    let store = try scratch.open()
    try await register(store, "a", alice)
    try await register(store, "b", bob, "wns")
    try await register(store, "c", carol)
    let jobs = try await create(store, to: [alice, bob, carol, news], devices: ["a", "c"])
    try await store.outbox.settle([(jobs[0].id, .expired)])
    func causes(hasEnded: Bool = false) async throws -> [String: Int] {
      let found = try await statistics(store, hasEnded: hasEnded, unserved: ["wns"])
      #expect(
        found.unreachable.reduce(0) { $0 + $1.users } == found.funnel.unreachable)
      #expect(
        found.unreachable.first { $0.why.cause == .noService }?.why.reason == "wns")
      return Dictionary(
        uniqueKeysWithValues: found.unreachable.map { ($0.why.cause.rawValue, $0.users) })
    }
    #expect(try await causes() == ["expired": 1, "noService": 1, "noDevice": 1])
    // Nobody waits for what was withdrawn.
    #expect(try await store.notifications.withdraw(0))
    #expect(
      try await causes(hasEnded: true)
        == ["expired": 1, "noService": 1, "noDevice": 1, "cancelled": 1])
  }

  @Test func `a push to all whom a service finds counts for those without one of their own`()
    async throws
  {
    let store = try scratch.open()
    for (id, user) in [("a", alice), ("b", bob)] { try await register(store, id, user) }
    var new = NotificationInsert.any(to: alice, bob)
    new.pushes = [PushInsert(lane: "azure", target: .audience("news"), kind: "alert")]
    _ = try await store.notifications.create(new)
    #expect(try await statistics(store).funnel.waiting == 2)
    let jobs = try await store.outbox.lease(lane: "azure", limit: 9, until: scratch.now + 60)
    try await store.outbox.settle([
      (jobs[0].id, .delivered(as: "alert", reference: nil, note: nil))
    ])
    #expect(try await statistics(store).funnel[.sent] == 2)
  }

  @Test func `platforms and languages divide the recipients`() async throws {
    let store = try scratch.open()
    try await register(store, "a", alice, "apns", language: "de-CH")
    try await register(store, "b", alice, "webpush", language: "de")
    try await register(store, "c", bob, "apns", language: "en")
    try await register(store, "d", carol, "apns", language: "de")
    _ = try await create(store, to: [alice, bob, carol, news], devices: [])
    store.notifications.recordFetched(0, user: carol, device: "d")
    try await store.probe()
    let found = try await statistics(store)
    func rows(_ groups: [RecipientGroup]) -> [String] {
      #expect(groups.reduce(0) { $0 + $1.funnel.recipients } == found.funnel.recipients)
      #expect(groups.reduce(0) { $0 + $1.funnel[.fetched] } == found.funnel[.fetched])
      return groups.map {
        "\($0.names.joined(separator: "+")) \($0.funnel.recipients) \($0.funnel[.fetched])"
      }
    }
    #expect(rows(found.platforms) == ["apns 2 1", " 1 0", "apns+webpush 1 0"])
    #expect(rows(found.languages) == ["de 2 1", " 1 0", "en 1 0"])
  }

  @Test func `of many recipients none is left out or counted twice`() async throws {
    let store = try scratch.open()
    let names = Set((0..<20_050).map { "user\($0)" })
    let users = try await store.accounts.userIDs(
      of: names, allowingPasswordless: true, addingPasswordless: true
    ).values.sorted { $0.rawValue < $1.rawValue }
    var new = NotificationInsert.any(to: alice)
    new.recipients = users
    _ = try await store.notifications.create(new)
    try await store.notifications.completeAudience(of: 0)
    for user in users.enumerated().filter({ $0.offset.isMultiple(of: 100) }).map(\.element) {
      store.notifications.recordFetched(0, user: user)
    }
    try await store.probe()
    let found = try await statistics(store)
    #expect(found.funnel.recipients == users.count)
    #expect(found.funnel[.fetched] == 201 && found.course[.fetched].reduce(0, +) == 201)
    #expect(found.funnel.unreachable == users.count - 201)
  }

  @Test func `what was withdrawn stays listed and counted, also after a restart`() async throws {
    do {
      let store = try scratch.open()
      for id in 0..<3 {
        var new = NotificationInsert.any(to: alice)
        new.sender = shop
        if id == 1 { new.notBefore = scratch.now + 600 }
        _ = try await store.notifications.create(new)
      }
      store.notifications.recordFetched(0, user: alice)
      try await store.probe()
      scratch.pass(60)
      // One before it went, and one that was fetched.
      for id in [0, 1] { #expect(try await store.notifications.withdraw(id)) }
      _ = try await store.collect(Retention())
    }
    try await scratch.databaseClosed()
    let store = try scratch.open()
    let listed = try await store.sent.sent(by: shop, before: nil, limit: 9)
    #expect(listed.map { $0.withdrawn != nil } == [false, true, true])
    scratch.pass(3600)
    let weeks = try await store.statistics.counts(
      by: shop, in: [scratch.now - 86_400, scratch.now - 7200], until: scratch.now)
    #expect(weeks.map(\.notifications) == [0, 2])
    #expect(weeks[1].withdrawn == 1 && weeks[1].recipients == 2)
    #expect(weeks[1].steps[.fetched] == 1)
  }

  @Test func `notifications belong to the period in which their time came`() async throws {
    let store = try scratch.open()
    let start = scratch.now
    for number in 0..<4 {
      var new = NotificationInsert.any(to: alice, bob)
      new.sender = number == 3 ? news : shop
      if number == 2 { new.notBefore = start + 250 }
      _ = try await store.notifications.create(new)
      scratch.pass(100)
    }
    func notifications(_ sender: UserID?) async throws -> [Int] {
      try await store.statistics.counts(
        by: sender, in: [start, start + 100, start + 200, start + 300], until: start + 350
      ).map(\.notifications)
    }
    #expect(try await notifications(shop) == [1, 1, 1, 0])
    #expect(try await notifications(nil) == [1, 1, 1, 1])
    #expect(try await notifications(carol) == [0, 0, 0, 0])
    // One whose time has not come is in none.
    var new = NotificationInsert.any(to: alice)
    (new.sender, new.notBefore) = (shop, scratch.now + 100)
    _ = try await store.notifications.create(new)
    let later = try await store.statistics.counts(
      by: shop, in: [scratch.now], until: scratch.now + 1000)
    #expect(later.map(\.notifications) == [0])
  }
}

@Suite struct CourseTests {
  private let start = Date(timeIntervalSince1970: 1_800_000_000)

  @Test func `periods get longer with the time, and no number gets lost`() {
    var course = Course(since: start)
    var total = 0
    let all: [Double] = [-5, 0, 9, 10, 599, 600, 3599, 86_400, 3e6, 3e8, 1e300]
    for seconds in all {
      for step in [CourseStep.opened, .fetched] { course.add(step, at: start + seconds) }
      total += 1
      #expect(course.periods <= Course.limit)
      #expect(course[.opened].reduce(0, +) == total)
      #expect(course[.opened] == course[.fetched])
      #expect(course[.opened].count == course.periods && course[.read].count == course.periods)
    }
  }

  @Test func `a time is in the period that has it`() {
    var course = Course(since: start)
    for seconds in [0.0, 9.9, 10, 599.9] { course.add(.sent, at: start + seconds) }
    #expect(course.length == 10)
    #expect(course[.sent].prefix(2) == [2, 1] && course[.sent].last == 1 && course.periods == 60)
    course.add(.sent, at: start + 600)
    #expect(course.length == 60)
    #expect(course[.sent] == [3, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1])
  }
}
