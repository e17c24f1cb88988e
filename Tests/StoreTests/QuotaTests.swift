import FoundationEssentials
import Primitives
import Testing

@testable import Store

/// What of the store's one user may take.
@Suite(.timeLimit(.minutes(1))) struct QuotaTests {
  private let scratch = Scratch()

  /// Registers a device, and returns whether the user could have one more.
  private func register(
    _ id: String, of user: UserID, lane: String? = nil, in store: Store
  ) async throws -> Bool {
    do {
      return try await store.accounts.putRegistration(
        id, user: user, platform: lane == nil ? "apns" : "webpush", handle: "handle of \(id)",
        tags: [], keys: lane == nil ? nil : "p.a", lane: lane)
    } catch let error as StoreError where error.code == .conflict { return false }
  }

  @Test func `a user registers 64 devices and no more, and none is lost`() async throws {
    let store = try scratch.open()
    for number in 0..<UserQuota.devices {
      #expect(try await register("a\(number)", of: alice, in: store))
    }
    #expect(try await !register("a-new", of: alice, in: store))
    await #expect(throws: StoreError.self) {
      try await store.accounts.registration(forHandle: "AABB", user: alice)
    }
    #expect(try await store.accounts.registrations(ofUser: alice).count == UserQuota.devices)
    // What is registered can be renewed, and replaced.
    #expect(try await register("a0", of: alice, in: store))
    #expect(try await store.accounts.removeRegistration("a1", user: alice))
    let id = try await store.accounts.registration(forHandle: "AABB", user: alice)
    #expect(try await store.accounts.registration(forHandle: "AABB", user: alice) == id)
    // Another user's are counted for that user.
    #expect(try await register("b0", of: bob, in: store))
    _ = try await store.accounts.registration(forHandle: "CCDD", user: bob)
  }

  @Test func `of devices that are registered at the same moment only so many are taken`()
    async throws
  {
    let store = try scratch.open()
    let taken = try await withThrowingTaskGroup(of: Bool.self) { group in
      for number in 0..<UserQuota.devices + 20 {
        group.addTask { try await register("a\(number)", of: alice, in: store) }
      }
      return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(taken == UserQuota.devices)
  }

  @Test func `an admin sets the number of a user, and what is registered stays`() async throws {
    let store = try scratch.open()
    try await store.accounts.addUser("dora", hash: "h", role: .device, maxDevices: 2)
    let dora = try #require(try await store.accounts.user(named: "dora")).id
    #expect(try await store.accounts.maxDevices(of: dora) == 2)
    #expect(try await store.accounts.maxDevices(of: alice) == UserQuota.devices)
    for number in 0..<3 {
      #expect(try await register("d\(number)", of: dora, in: store) == (number < 2))
    }
    let isNew = try await store.administration.putUser(
      "dora", role: .device, hash: nil, endingRegistrations: false, maxDevices: 3)
    #expect(!isNew)
    #expect(try await register("d3", of: dora, in: store))
    #expect(try await store.accounts.setMaxDevices(of: "dora", to: 1))
    #expect(try await store.accounts.registrations(ofUser: dora).count == 3)
    #expect(try await !register("d4", of: dora, in: store))
    #expect(try await register("d3", of: dora, in: store), "it is renewed")
    // Without the number nothing changes.
    _ = try await store.administration.putUser(
      "dora", role: .publisher, hash: nil, endingRegistrations: false, maxDevices: nil)
    let summary = try await store.administration.users(
      after: "", includingPasswordless: false, limit: 9)
    #expect(summary.map(\.maxDevices) == [1] && summary.map(\.devices) == [3])
    #expect(try await !store.accounts.setMaxDevices(of: "nobody", to: 1))
    _ = try await store.administration.putUser(
      "emil", role: .device, hash: "h", endingRegistrations: false, maxDevices: 5)
    let emil = try #require(try await store.accounts.user(named: "emil")).id
    #expect(try await store.accounts.maxDevices(of: emil) == 5)
  }

  @Test func `a user's devices have 16 Web Push services and no more`() async throws {
    let store = try scratch.open()
    func put(_ id: String, _ service: Int, of user: UserID = alice) async throws -> Bool {
      try await register(id, of: user, lane: "webpush:https://s\(service)", in: store)
    }
    for number in 0..<UserQuota.webPushServices { #expect(try await put("a\(number)", number)) }
    #expect(try await !put("new", 99))
    #expect(try await put("new", 3), "another device at a known service")
    #expect(try await !put("new", 99), "nor can that one move to another")
    #expect(try await put("a0", 99), "but one that leaves its service can")
    #expect(try await register("phone", of: alice, in: store), "without a service")
    #expect(try await put("b0", 99, of: bob))
  }

  @Test func `a device sends a hundred notifications to itself within an hour`() async throws {
    let store = try scratch.open()
    func send(_ user: UserID = alice, isFromDevice: Bool = true) async throws -> StoreError? {
      var new = NotificationInsert.any(to: user)
      (new.sender, new.isFromDevice) = (user, isFromDevice)
      do {
        _ = try await store.notifications.create(new)
        return nil
      } catch let error as StoreError { return error }
    }
    for _ in 0..<UserQuota.ownNotifications { #expect(try await send() == nil) }
    scratch.pass(600)
    let refusal = try #require(try await send())
    #expect(refusal.code == .exhausted && refusal.retryAfter == 3000)
    #expect(try await store.notifications.inbox(of: alice, limit: 500).count == 100)
    // The plain text and a change count as well.
    await #expect(throws: StoreError.self) {
      try await store.events.push("{}", to: [alice], pushes: [], fromDeviceOf: alice)
    }
    var change = NotificationInsert.any(to: alice, message: "changed")
    (change.sender, change.isFromDevice) = (alice, true)
    await #expect(throws: StoreError.self) { try await store.notifications.amend(0, with: change) }
    #expect(try await store.notifications.notification(0)?.message == "Look")
    // Others' do not, nor what a publisher sends.
    #expect(try await send(bob) == nil)
    #expect(try await send(isFromDevice: false) == nil)
    scratch.pass(3000)
    #expect(try await send() == nil, "the next hour")
    #expect(try await store.notifications.amend(0, with: change)?.message == "changed")
    scratch.pass(-7200)
    #expect(try await send() == nil, "the clock was set back")
  }

  @Test func `two users do not take a handle from each other for ever`() async throws {
    let store = try scratch.open()
    func take(_ user: UserID) async throws -> Bool {
      try await store.accounts.putRegistration(
        "of \(user.rawValue)", user: user, platform: "apns", handle: "AA")
    }
    for _ in 0..<UserQuota.ownNotifications {
      for user in [alice, bob] { #expect(try await take(user)) }
    }
    #expect(try await take(alice))
    let error = await #expect(throws: StoreError.self) { _ = try await take(bob) }
    #expect(error?.code == .exhausted)
    #expect(try await store.accounts.registrations(ofUser: alice).count == 1, "it stays hers")
  }

  @Test func `a repeated request of a device counts once`() async throws {
    let store = try scratch.open()
    for _ in 0..<3 * UserQuota.ownNotifications {
      var new = NotificationInsert.any(to: alice)
      (new.sender, new.isFromDevice) = (alice, true)
      new.idempotencyKey = IdempotencyKey("k", request: [])
      #expect(try await store.notifications.create(new).notification.id == 0)
    }
  }

  @Test func `a user's devices are read by page`() async throws {
    let store = try scratch.open()
    for number in [3, 1, 2] { _ = try await register("a\(number)", of: alice, in: store) }
    _ = try await register("b", of: bob, in: store)
    func page(after id: String, _ limit: Int) async throws -> [String] {
      try await store.accounts.registrations(ofUser: alice, after: id, limit: limit).map(\.id)
    }
    #expect(try await page(after: "", 2) == ["a1", "a2"])
    #expect(try await page(after: "a2", 2) == ["a3"])
    #expect(try await page(after: "a3", 2).isEmpty)
  }

  @Test func `the jobs of a lane that nobody works off tell why`() async throws {
    let store = try scratch.open()
    _ = try await register("a", of: alice, lane: "webpush:https://one", in: store)
    var new = NotificationInsert.any(to: alice)
    new.pushes = ["webpush:https://one", "apns"].map {
      PushInsert(lane: $0, target: .devices(["a"]), kind: "alert")
    }
    _ = try await store.notifications.create(new)
    try await store.outbox.explain(
      "no lane", lanes: ["webpush:https://one", "webpush:https://two"])
    let jobs = try await store.outbox.deliveries(of: 0)
    #expect(jobs.map(\.reason) == ["no lane", nil] && jobs.allSatisfy { $0.state == .queued })
    let leased = try await store.outbox.lease(lane: "webpush:https://one", until: scratch.now + 60)
    try await store.outbox.settle([
      (leased[0].id, .delivered(as: "alert", reference: nil, note: nil))
    ])
    #expect(try await store.outbox.deliveries(of: 0).map(\.reason) == [nil, nil])
  }

  @Test func `what waits for a device that was removed fails, and nothing else`() async throws {
    let store = try scratch.open()
    for (id, lane) in [("a", "webpush:https://one"), ("b", "webpush:https://one"), ("c", nil)] {
      #expect(try await register(id, of: alice, lane: lane, in: store))
    }
    var new = NotificationInsert.any(to: alice)
    new.pushes = [
      PushInsert(
        lane: "webpush:https://one", target: .devices(["a", "b"]), kind: "alert"),
      PushInsert(lane: "apns", target: .devices(["c"]), kind: "alert"),
    ]
    _ = try await store.notifications.create(new)
    let leased = try await store.outbox.lease(lane: "webpush:https://one", until: scratch.now + 60)
    try await store.outbox.settle(
      leased.map { ($0.id, .retry(at: scratch.now + 86_400, reason: "503")) })
    for id in ["a", "c"] { #expect(try await store.accounts.removeRegistration(id, user: alice)) }
    try await store.outbox.failJobsOfRemovedDevices(inLanesBeginningWith: "webpush:")
    let jobs = try await store.outbox.deliveries(of: 0)
    #expect(jobs.map(\.state) == [.failed, .queued, .queued])
    #expect(jobs.map(\.reason) == ["the device is gone", "503", nil])
    #expect(try await store.sent.counts(of: 0)?.queued == 2)
  }
}
