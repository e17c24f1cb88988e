import FoundationEssentials
import Synchronization
import Testing

@testable import Store

@Suite(.timeLimit(.minutes(1))) struct OutboxTests {
  private let scratch = Scratch()

  private func register(_ ids: String..., in store: Store) async throws {
    for id in ids {
      _ = try await store.accounts.putRegistration(
        id, user: alice, platform: "apns", handle: "token \(id)", tags: [])
    }
  }

  private func new(to devices: String..., lane: String = "apns") -> NotificationInsert {
    var push = PushInsert(
      lane: lane, target: .devices(RegistrationIDs(devices)), kind: "background"
    )
    (push.media, push.collapseID) = (#"{"size":1,"type":"image/png"}"#, "same")
    var new = NotificationInsert.any(to: alice)
    new.pushes = [push]
    return new
  }

  private func lease(
    _ store: Store, _ limit: Int = 10, lane: String = "apns"
  ) async throws -> [LeasedJob] {
    try await store.outbox.lease(
      lane: lane, limit: limit, until: scratch.now.addingTimeInterval(60))
  }

  @Test func `commits a job for each device together with the notification`() async throws {
    let store = try scratch.open()
    try await register("1", "2", in: store)
    let told = Mutex<[Set<String>]>([])
    store.observers.onJobs.add { lanes in told.withLock { $0.append(lanes) } }
    _ = try await store.notifications.create(new(to: "1", "gone", "2"))
    #expect(told.withLock { $0 } == [["apns"]])
    let jobs = try await lease(store)
    #expect(jobs[0].push == jobs[1].push && jobs.map(\.kind) == ["background", "background"])
    let push = try #require(try await store.outbox.push(jobs[0].push))
    #expect(push.notification?.id == 0 && push.message.text == "Look")
    #expect(push.media == #"{"size":1,"type":"image/png"}"#)
    #expect(
      jobs.map(\.target) == ["1", "2"].map { .device(handle: "token \($0)", platform: "apns") })
    #expect(Set(jobs.map(\.token)).count == 2)
    for job in jobs {
      // A UUID of version 4.
      let form = #/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/#
      #expect(job.token.wholeMatch(of: form) != nil, "\(job.token)")
    }
    #expect(try await store.outbox.deliveries(of: 0).map(\.state) == [.queued, .queued])
  }

  @Test func `gives a leased job to nobody else until the lease ends`() async throws {
    let store = try scratch.open()
    try await register("1", in: store)
    _ = try await store.notifications.create(new(to: "1"))
    let first = try await lease(store)
    #expect(try await lease(store).isEmpty)
    #expect(try await lease(scratch.open(.shared)).isEmpty)
    #expect(try await store.outbox.nextDue(lane: "apns") == scratch.now.addingTimeInterval(60))
    scratch.pass(61)
    #expect(try await lease(store) == first)
  }

  @Test func `takes a job back at once when the server was killed`() async throws {
    var first: [LeasedJob] = []
    do {
      let store = try scratch.open()
      try await register("1", in: store)
      _ = try await store.notifications.create(new(to: "1"))
      first = try await lease(store)
    }
    #expect(try await lease(scratch.open()) == first)
  }

  @Test func `ignores the outcome of a lease that went to another`() async throws {
    let store = try scratch.open()
    try await register("1", in: store)
    _ = try await store.notifications.create(new(to: "1"))
    let job = try #require(try await lease(store).first).id
    scratch.pass(61)
    let other = try scratch.open(.shared)
    #expect(try await lease(other).count == 1)
    for late in [
      JobOutcome.rejected(reason: "late"), .delivered(as: "alert", reference: nil, note: nil),
      .delivered(as: "alert", reference: nil, note: "n"), .expired,
      .retry(at: scratch.now, reason: "late"), .released(until: scratch.now, reason: "late"),
      .deadToken(since: nil, reason: "late"),
      .refused(endsRegistration: true, since: nil, reason: "late"),
    ] {
      try await store.outbox.settle([(job, late)])
      let found = try #require(try await store.outbox.deliveries(of: 0).first)
      #expect(found.state == .queued && found.attempts == 0 && found.reason == nil, "\(late)")
      #expect(try await lease(other).isEmpty, "\(late)")
    }
    #expect(try await store.accounts.registrations(ofUser: alice).count == 1)
    try await other.outbox.settle([(job, .delivered(as: "alert", reference: "r", note: "n"))])
    let delivery = try #require(try await store.outbox.deliveries(of: 0).first)
    #expect(delivery.state == .sent && delivery.reference == "r" && delivery.reason == "n")
    #expect(delivery.attempts == 1)
  }

  @Test func `keeps what the service calls each of many pushes`() async throws {
    let store = try scratch.open()
    try await register("1", "2", "3", in: store)
    _ = try await store.notifications.create(new(to: "1", "2", "3"))
    let references: [String?] = ["a-1", nil, #"with "quotes""#]
    let outcomes = zip(try await lease(store), references).map { job, reference in
      (job.id, JobOutcome.delivered(as: "alert", reference: reference, note: nil))
    }
    try await store.outbox.settle(outcomes)
    let deliveries = try await store.outbox.deliveries(of: 0)
    #expect(deliveries.map(\.reference) == references)
    #expect(deliveries.allSatisfy { $0.state == .sent && $0.attempts == 1 })
  }

  @Test func `keeps the order of pushes that replace each other`() async throws {
    let store = try scratch.open()
    try await register("1", "2", in: store)
    _ = try await store.notifications.create(new(to: "1"))
    _ = try await store.notifications.create(new(to: "1", "2"))
    let first = try await lease(store)
    try #require(first.map(\.notificationID) == [0, 1])
    let retry = scratch.now.addingTimeInterval(5)
    try await store.outbox.settle([(first[0].id, .retry(at: retry, reason: "busy"))])
    #expect(try await lease(store).isEmpty, "the later one waits, too")
    scratch.pass(5)
    let second = try await lease(store)
    try #require(second.map(\.id) == [first[0].id] && second.map(\.attempts) == [1])
    try await store.outbox.settle([(second[0].id, .expired)])
    #expect(try await lease(store).map(\.notificationID) == [1])
  }

  @Test func `keeps the order and counts the wakes of an audience, too`() async throws {
    let store = try scratch.open()
    for audience in ["a", "a", "b"] {
      var new = NotificationInsert.any(to: alice)
      let target = PushInsert.Target.audience(audience, user: alice)
      var push = PushInsert(lane: "azure", target: target, kind: "background")
      push.collapseID = "same"
      new.pushes = [push]
      _ = try await store.notifications.create(new)
    }
    let first = try await lease(store, lane: "azure")
    #expect(first.map(\.notificationID) == [0, 2] && first.map(\.user) == [alice, alice])
    let sent = JobOutcome.delivered(as: "background", reference: nil, note: nil)
    try await store.outbox.settle(first.map { ($0.id, sent) })
    let second = try await lease(store, lane: "azure")
    #expect(second.map(\.notificationID) == [1])
    #expect(second.map(\.recentSilentPushes) == [[scratch.now]])
  }

  @Test func `counts what was tried and not what was given back`() async throws {
    let store = try scratch.open()
    try await register("1", in: store)
    _ = try await store.notifications.create(new(to: "1"))
    let job = try #require(try await lease(store).first).id
    try await store.outbox.settle([(job, .released(until: scratch.now, reason: "closed"))])
    #expect(try await lease(store).map(\.attempts) == [0])
    try await store.outbox.settle([(job, .retry(at: scratch.now, reason: "busy"))])
    #expect(try await lease(store).map(\.attempts) == [1])
  }

  @Test func `remembers when a device was woken within the hour`() async throws {
    let store = try scratch.open()
    try await register("1", in: store)
    for _ in 0..<3 { _ = try await store.notifications.create(new(to: "1")) }
    for kind in ["background", "alert"] {
      let job = try #require(try await lease(store).first).id
      try await store.outbox.settle([(job, .delivered(as: kind, reference: nil, note: nil))])
    }
    let woken = scratch.now
    scratch.pass(3599)
    #expect(try await lease(store).map(\.recentSilentPushes) == [[woken]])
    scratch.pass(61)
    #expect(try await lease(store).map(\.recentSilentPushes) == [[]])
  }

  @Test func `ends a dead device's registration unless it registered again`() async throws {
    let store = try scratch.open()
    try await register("1", "2", in: store)
    let died = scratch.now
    scratch.pass(10)
    try await register("2", in: store)
    _ = try await store.notifications.create(new(to: "1", "2"))
    let outcome = JobOutcome.deadToken(since: died, reason: "Unregistered")
    try await store.outbox.settle(try await lease(store).map { ($0.id, outcome) })
    #expect(try await current(store) == ["2"])
    #expect(
      try await store.outbox.jobs(in: .failed, limit: 9).map(\.reason) == [
        "Unregistered", "Unregistered",
      ])
  }

  @Test func `sends nothing to a device that is another user's now`() async throws {
    let store = try scratch.open()
    try await register("1", "2", in: store)
    _ = try await store.notifications.create(new(to: "1", "2"))
    _ = try await store.accounts.removeRegistration("1", user: alice)
    _ = try await store.accounts.putRegistration(
      "1", user: bob, platform: "apns", handle: "token 1", tags: [])
    _ = try await store.accounts.removeRegistration("2", user: alice)
    #expect(try await lease(store).isEmpty)
    #expect(try await store.outbox.deliveries(of: 0).map(\.state) == [.failed, .failed])
  }

  @Test func `replays dead letters`() async throws {
    let store = try scratch.open()
    try await register("1", "2", in: store)
    _ = try await store.notifications.create(new(to: "1", "2"))
    let jobs = try await lease(store).map(\.id)
    try #require(jobs.count == 2)
    try await store.outbox.settle(jobs.map { ($0, .rejected(reason: "BadTopic")) })
    #expect(try await store.outbox.replay(jobs[1]) == 1)
    #expect(try await store.outbox.replay(jobs[1]) == 0)
    #expect(try await store.outbox.replay() == 1)
    #expect(try await lease(store).map(\.attempts) == [0, 0])
  }

  @Test func `what another has taken the place of is not replayed, but for who keeps it`()
    async throws
  {
    let store = try scratch.open()
    try await register("1", in: store)
    _ = try await store.accounts.putRegistration(
      "2", user: bob, platform: "apns", handle: "token 2", tags: [])
    var first = new(to: "1", "2")
    (first.recipients, first.sender, first.replaces) = ([alice, bob], shop, "parcel")
    _ = try await store.notifications.create(first)
    let jobs = try await lease(store).map(\.id)
    try #require(jobs.count == 2)
    try await store.outbox.settle(jobs.map { ($0, .rejected(reason: "no")) })
    var second = new(to: "1")
    (second.sender, second.replaces) = (shop, "parcel")
    let later = try await store.notifications.create(second).notification.id
    #expect(try await store.outbox.replay(jobs[0]) == 0)
    #expect(try await store.outbox.replay() == 1)
    #expect(Set(try await lease(store).map(\.notificationID)) == [0, later])
    #expect(try await store.outbox.deliveries(of: 0).map(\.state) == [.failed, .queued])
  }

  @Test func `a replay notifies the lane, and a sent job is not replayed`() async throws {
    let store = try scratch.open()
    try await register("1", "2", in: store)
    _ = try await store.notifications.create(new(to: "1", "2"))
    let jobs = try await lease(store).map(\.id)
    try #require(jobs.count == 2)
    let sent = JobOutcome.delivered(as: "alert", reference: nil, note: nil)
    try await store.outbox.settle([(jobs[0], sent), (jobs[1], .rejected(reason: "no"))])
    let told = Mutex<[Set<String>]>([])
    store.observers.onJobs.add { lanes in told.withLock { $0.append(lanes) } }
    #expect(try await store.outbox.replay(jobs[0]) == 0)
    #expect(try await !store.outbox.cancel(job: jobs[0]))
    #expect(told.withLock { $0 }.isEmpty)
    #expect(try await store.outbox.replay(jobs[1]) == 1)
    #expect(told.withLock { $0 } == [["apns"]])
  }

  @Test func `a job is found by its number, token and notification together`() async throws {
    let store = try scratch.open()
    try await register("1", in: store)
    _ = try await store.notifications.create(new(to: "1"))
    let job = try #require(try await lease(store).first)
    let found = try #require(
      try await store.outbox.addressee(of: job.id, token: job.token, notification: 0))
    #expect(found.user == alice && found.registration == "1")
    #expect(try await store.outbox.addressee(of: job.id, token: "guess", notification: 0) == nil)
    #expect(try await store.outbox.addressee(of: job.id, token: job.token, notification: 1) == nil)
    #expect(
      try await store.outbox.addressee(of: job.id + 1, token: job.token, notification: 0) == nil)
  }

  @Test func `calls off what has not been sent`() async throws {
    let store = try scratch.open()
    try await register("1", "2", in: store)
    _ = try await store.notifications.create(new(to: "1", "2"))
    let jobs = try await lease(store).map(\.id)
    try #require(jobs.count == 2)
    let sent = JobOutcome.delivered(as: "alert", reference: nil, note: nil)
    #expect(try await store.outbox.cancel(job: jobs[0]))
    #expect(try await store.notifications.withdraw(0))
    #expect(try await store.notifications.notification(0) == nil)
    try await store.outbox.settle([(jobs[0], .retry(at: scratch.now, reason: "")), (jobs[1], sent)])
    #expect(try await store.outbox.deliveries(of: 0).map(\.state) == [.cancelled, .sent])
    #expect(try await lease(store).isEmpty)
    #expect(try await !store.notifications.withdraw(0))
  }

  @Test func `holds no lane up by another, for the same device and collapse id neither`()
    async throws
  {
    let store = try scratch.open()
    _ = try await store.accounts.putRegistration(
      "phone", user: alice, platform: "apns", handle: "AB", tags: [])
    var new = NotificationInsert.any(to: alice)
    new.pushes = ["azure", "apns"].map { lane in
      PushInsert(lane: lane, target: .devices(["phone"]), kind: "alert")
    }
    let id = try await store.notifications.create(new).notification.id
    let until = scratch.now.addingTimeInterval(60)
    #expect(try await store.outbox.lease(lane: "apns", limit: 9, until: until).count == 1)
    _ = try await store.notifications.amend(id, with: new)
    #expect(try await store.outbox.lease(lane: "azure", limit: 9, until: until).count == 1)
    #expect(try await store.outbox.lease(lane: "apns", limit: 9, until: until).isEmpty)
  }

  @Test func `waits until a push may be sent`() async throws {
    let store = try scratch.open()
    let start = scratch.now.addingTimeInterval(100)
    var new = NotificationInsert.any(to: alice)
    new.notBefore = start
    new.pushes = [
      PushInsert(lane: "azure", target: .audience("a || b"), kind: "alert")
    ]
    _ = try await store.notifications.create(new)
    #expect(try await lease(store).isEmpty)
    #expect(try await store.outbox.nextDue(lane: "azure") == start)
    scratch.pass(100)
    let jobs = try await store.outbox.lease(lane: "azure", limit: 1, until: start)
    #expect(jobs.map(\.target) == [.audience("a || b")])
    #expect(try await store.outbox.jobs(limit: 9).count == 1)
  }

  @Test func `what is scheduled does not hide since when other pushes wait`() async throws {
    let store = try scratch.open()
    func oldest() async throws -> [Date?] {
      try await store.administration.laneQueues().map(\.oldest)
    }
    let start = scratch.now
    var new = NotificationInsert.any(to: alice)
    new.pushes = [PushInsert(lane: "azure", target: .audience("a"), kind: "alert")]
    new.notBefore = start + 100
    _ = try await store.notifications.create(new)
    #expect(try await oldest() == [nil])
    new.notBefore = nil
    _ = try await store.notifications.create(new)
    #expect(try await oldest() == [start])
    scratch.pass(50)
    // Its next attempt is later than the scheduled one, but it waits since the start.
    let jobs = try await lease(store, lane: "azure")
    let retry = JobOutcome.retry(at: start + 1000, reason: "503")
    try await store.outbox.settle(jobs.map { ($0.id, retry) })
    #expect(jobs.count == 1)
    #expect(try await oldest() == [start])
  }

  @Test func `what waits longest is told by when it was due, not by when it was created`()
    async throws
  {
    let store = try scratch.open()
    func oldest() async throws -> [Date?] {
      try await store.administration.laneQueues().map(\.oldest)
    }
    let start = scratch.now
    func create(dueIn delay: Double?) async throws {
      var new = NotificationInsert.any(to: alice)
      new.pushes = [PushInsert(lane: "azure", target: .audience("a"), kind: "alert")]
      new.notBefore = delay.map { start + $0 }
      _ = try await store.notifications.create(new)
    }
    for delay in [200.0, 100, 150] { try await create(dueIn: delay) }
    scratch.pass(110)
    try await create(dueIn: nil)
    #expect(try await oldest() == [start + 100])
    let jobs = try await lease(store, lane: "azure")
    try await store.outbox.settle(
      jobs.prefix(1).map { ($0.id, .delivered(as: "alert", reference: nil, note: nil)) })
    scratch.pass(100)
    // All are due now; the one that was not scheduled waits since it was created.
    try await create(dueIn: nil)
    #expect(try await oldest() == [start + 110])
  }

  @Test func `leases what has been due longest, up to the limit`() async throws {
    let store = try scratch.open()
    for delay in [300.0, 100, 200, 900] {
      var new = NotificationInsert.any(to: alice)
      new.notBefore = scratch.now.addingTimeInterval(delay)
      new.pushes = [PushInsert(lane: "azure", target: .audience("a"), kind: "alert")]
      _ = try await store.notifications.create(new)
    }
    scratch.pass(500)
    #expect(try await store.outbox.nextDue(lane: "azure") == scratch.now.addingTimeInterval(-400))
    #expect(try await lease(store, 2, lane: "azure").map(\.notificationID) == [1, 2])
    #expect(try await lease(store, 2, lane: "azure").map(\.notificationID) == [0])
    #expect(try await lease(store, 2, lane: "azure").isEmpty)
    #expect(try await lease(store, 0, lane: "azure").isEmpty)
  }

  @Test func `ends a dead device's registration unless renewed since the lease`() async throws {
    let store = try scratch.open()
    try await register("1", "2", in: store)
    _ = try await store.notifications.create(new(to: "1", "2"))
    scratch.pass(10)
    try await register("1", "2", in: store)
    let jobs = try await lease(store)
    scratch.pass(10)
    try await register("2", in: store)
    let dead = JobOutcome.deadToken(since: nil, reason: "BadDeviceToken")
    try await store.outbox.settle(jobs.map { ($0.id, dead) })
    #expect(try await current(store) == ["2"])
    #expect(try await store.outbox.deliveries(of: 0).map(\.attempts) == [1, 1])
  }

  /// The IDs of alice's registrations that get pushes.
  private func current(_ store: Store) async throws -> [String] {
    try await store.accounts.registrations(ofUser: alice).filter { $0.ended == nil }.map(\.id)
  }

  @Test func `settles and leases in one commit, or does neither`() async throws {
    let store = try scratch.open()
    try await register("1", in: store)
    _ = try await store.notifications.create(new(to: "1"))
    _ = try await store.notifications.create(new(to: "1"))
    let first = try #require(try await lease(store).first)
    let next = try await store.outbox.settleAndLease(
      [(first.id, .delivered(as: "alert", reference: "r", note: nil))], lane: "apns", limit: 9,
      until: scratch.now.addingTimeInterval(60))
    #expect(next.map(\.notificationID) == [1])
    #expect(try await store.outbox.jobs(limit: 9).map(\.state) == [.queued, .sent])
    #expect(try await store.outbox.jobs(in: .sent, limit: 9).map(\.job) == [first.id])
  }

  @Test(arguments: [true, false])
  func `sends nothing past a push that was cancelled while it was being sent`(
    _ isSettled: Bool
  ) async throws {
    let store = try scratch.open()
    try await register("1", in: store)
    _ = try await store.notifications.create(new(to: "1"))
    let first = try #require(try await lease(store).first).id
    #expect(try await store.outbox.cancel(job: first))
    _ = try await store.notifications.create(new(to: "1"))
    #expect(try await lease(store).isEmpty)
    // It is settled, or its lease ends.
    if isSettled { try await store.outbox.settle([(first, .expired)]) } else { scratch.pass(60) }
    #expect(try await lease(store).map(\.notificationID) == [1])
    #expect(try await store.outbox.deliveries(of: 0).map(\.state) == [.cancelled])
  }

  @Test func `remembers more silent pushes than the budget allows`() async throws {
    let store = try scratch.open()
    try await register("1", in: store)
    for count in 0..<4 {
      _ = try await store.notifications.create(new(to: "1"))
      let job = try #require(try await lease(store).first)
      #expect(job.recentSilentPushes.count == count)
      let sent = JobOutcome.delivered(as: "background", reference: nil, note: nil)
      try await store.outbox.settle([(job.id, sent)])
    }
  }

  @Test func `a push that a killed server had cancelled blocks no other`() async throws {
    do {
      let store = try scratch.open()
      try await register("1", in: store)
      _ = try await store.notifications.create(new(to: "1"))
      let job = try #require(try await lease(store).first)
      #expect(try await store.outbox.cancel(job: job.id))
    }
    let store = try scratch.open()
    _ = try await store.notifications.create(new(to: "1"))
    #expect(try await lease(store).map(\.notificationID) == [1])
  }
}
