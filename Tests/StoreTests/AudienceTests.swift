import FoundationEssentials
import Synchronization
import Testing

@testable import Store

/// Audiences that are too large for one commit.
@Suite(.timeLimit(.minutes(1))) struct AudienceTests {
  private let scratch = Scratch()
  private static let size = 1200

  /// A store with users, each of whom has a device.
  private func open() async throws -> (store: Store, users: [UserID]) {
    let store = try scratch.open()
    let names = Set((0..<Self.size).map { "user\($0)" })
    let users = try await store.accounts.userIDs(of: names, allowingPasswordless: true).values
      .sorted()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for user in users {
        group.addTask {
          _ = try await store.accounts.putRegistration(
            "device \(user.rawValue)", user: user, platform: "apns",
            handle: "token \(user.rawValue)", tags: [])
        }
      }
      try await group.waitForAll()
    }
    return (store, users)
  }

  private func new(to users: [UserID]) -> NotificationInsert {
    var new = NotificationInsert.any()
    new.recipients = users
    let devices = users.map { "device \($0.rawValue)" }
    new.pushes = [
      PushInsert(lane: "apns", target: .devices(RegistrationIDs(devices)), kind: "alert")
    ]
    return new
  }

  private func writeAll(_ store: Store) async throws {
    while try await store.notifications.writeNextParts(within: .zero) {}
  }

  private func jobs(_ store: Store) async throws -> [String] {
    try await store.outbox.deliveries(of: 0).compactMap(\.registration)
  }

  private func events(_ store: Store, of user: UserID) async throws -> Int {
    try await store.events.pushEvents(for: user, after: 0, limit: 9).count
  }

  @Test func `is written in parts, once each, also by the next process`() async throws {
    let (store, users) = try await open()
    _ = try await store.notifications.create(new(to: users))
    #expect(try await jobs(store).isEmpty)
    let told = Mutex<[UserID]>([])
    store.observers.onPushEvents.add { users in told.withLock { $0 += users } }
    #expect(try await store.notifications.writeNextParts(within: .zero))
    #expect((1..<Self.size).contains(told.withLock { $0.count }))

    let next = try scratch.open(.shared)
    let lanes = Mutex<Set<String>>([])
    next.observers.onJobs.add { new in lanes.withLock { $0.formUnion(new) } }
    try await writeAll(next)
    #expect(lanes.withLock { $0 } == ["apns"])
    #expect(try await !next.notifications.writeNextParts(within: .zero))
    #expect(try await jobs(next).sorted() == users.map { "device \($0.rawValue)" }.sorted())
    for user in users {
      #expect(try await events(next, of: user) == 1)
      #expect(try await next.notifications.inbox(of: user, limit: 9).count == 1)
    }
    let sent = try #require(try await next.sent.sent(by: nil, before: nil, limit: 1).first)
    #expect(sent.counts.recipients == Self.size && sent.counts.queued == Self.size)
  }

  @Test func `what is withdrawn is taken back from all who have not got it`() async throws {
    let (store, users) = try await open()
    let new = new(to: users)
    _ = try await store.notifications.create(new)
    try await writeAll(store)
    let sent = try await store.outbox.lease(lane: "apns", limit: 100, until: scratch.now + 60)
    try await store.outbox.settle(
      sent.prefix(60).map { ($0.id, .delivered(as: "alert", reference: nil, note: nil)) })
    #expect(try await store.notifications.withdraw(0))
    #expect(try await !store.notifications.withdraw(0))
    // What a service has taken meanwhile counts as sent.
    try await store.outbox.settle(
      sent.suffix(40).map { ($0.id, .delivered(as: "alert", reference: nil, note: nil)) })
    let states = try await store.outbox.deliveries(of: 0).map(\.state)
    #expect(states.count { $0 == .sent } == 100)
    #expect(states.count { $0 == .cancelled } == Self.size - 100)
    scratch.pass(3600)
    #expect(
      try await store.outbox.lease(lane: "apns", limit: 100, until: scratch.now + 60).isEmpty)
    #expect(try await store.sent.counts(of: 0)?.sent == 100)
    // Also of one whose jobs are still to be written.
    let next = try await store.notifications.create(new).notification.id
    #expect(try await store.notifications.writeNextParts(within: .zero))
    #expect(try await store.notifications.withdraw(next))
    try await writeAll(store)
    #expect(try await store.outbox.deliveries(of: next).allSatisfy { $0.state == .cancelled })
  }

  private func count(_ store: Store, of id: Int, _ state: JobState) async throws -> Int {
    try await store.outbox.deliveries(of: id, in: state, lane: nil, after: 0, limit: 9999).count
  }

  @Test func `what a notification said before is cancelled in parts, also by the next process`()
    async throws
  {
    let (store, users) = try await open()
    var new = new(to: users)
    new.notBefore = scratch.now + 3600
    _ = try await store.notifications.create(new)
    try await writeAll(store)
    new.message = "Other"
    let change = scratch.now
    _ = try await store.notifications.amend(0, with: new)
    #expect(try await count(store, of: 0, .cancelled) == 1000)
    #expect(try await count(store, of: 0, .queued) == Self.size - 1000)

    // What is due before its turn has expired.
    scratch.pass(3600)
    let next = try scratch.open(.shared)
    let old = try await next.outbox.lease(limit: 9, until: scratch.now + 60)
    #expect(old.count == 9 && old.allSatisfy { $0.expires == change })
    try await next.outbox.settle(old.map { ($0.id, .expired) })
    try await writeAll(next)
    #expect(try await count(next, of: 0, .cancelled) == Self.size - 9)
    #expect(try await count(next, of: 0, .queued) == Self.size)
    let leased = try await next.outbox.lease(limit: 2 * Self.size, until: scratch.now + 60)
    #expect(leased.count == Self.size && leased.allSatisfy { $0.expires == nil })
  }

  @Test func `what another takes the place of is cancelled in parts, but for those who keep it`()
    async throws
  {
    let (store, users) = try await open()
    var new = new(to: users)
    (new.sender, new.replaces) = (shop, "parcel")
    _ = try await store.notifications.create(new)
    try await writeAll(store)
    (new.recipients, new.pushes) = (Array(users.dropLast(50)), [])
    _ = try await store.notifications.create(new)
    #expect(try await count(store, of: 0, .cancelled) == 1000)
    try await writeAll(store)
    #expect(try await count(store, of: 0, .cancelled) == Self.size - 50)
    #expect(try await count(store, of: 0, .queued) == 50)
  }

  @Test func `its users may fetch the notification and mark it read before that`() async throws {
    let (store, users) = try await open()
    let outsider = users[7]
    _ = try await store.notifications.create(new(to: users.filter { $0 != outsider }))
    let (last, other) = (users[Self.size - 1], users[Self.size - 2])
    let notifications = store.notifications
    #expect(try await notifications.isFetchRecorded(0, user: last, device: nil) == false)
    #expect(try await notifications.isFetchRecorded(0, user: outsider, device: nil) == nil)
    #expect(try await notifications.isFetchRecorded(1, user: last, device: nil) == nil)
    for (user, isRecorded) in [(last, false), (outsider, nil)] {
      let token = Digest(of: "\(user.rawValue)")
      #expect(
        try await store.accounts.addToken(token, to: "device \(user.rawValue)", user: user))
      let device = try await store.accounts.device(withToken: token, fetching: 0)
      #expect(try #require(device).isFetchRecorded == isRecorded)
    }
    notifications.recordFetched(0, user: last, device: "device \(last.rawValue)")
    notifications.recordFetched(0, user: outsider, device: nil)
    #expect(try await notifications.markRead(0, user: other, device: nil))
    #expect(try await !notifications.markRead(0, user: outsider, device: nil))
    try await writeAll(store)
    let receipts = try await notifications.receipts(of: 0)
    #expect(receipts.count == Self.size - 1)
    #expect(receipts.filter { $0.fetched != nil }.map(\.userID) == [last])
    #expect(receipts.filter { $0.read != nil }.map(\.userID) == [other])
    #expect(try await notifications.deviceReceipts(of: 0, users: receipts.map(\.userID)).count == 1)
    #expect(try await events(store, of: last) == 1)
  }

  @Test func `another takes its place for those it is sent to, though not all were written`()
    async throws
  {
    let (store, users) = try await open()
    var earlier = new(to: users)
    (earlier.sender, earlier.replaces) = (users[0], "parcel")
    let first = try await store.notifications.create(earlier).notification.id
    var later = new(to: Array(users.dropLast()))
    (later.sender, later.replaces) = (users[0], "parcel")
    let second = try await store.notifications.create(later).notification.id
    try await writeAll(store)
    func inbox(_ user: UserID) async throws -> [Int] {
      try await store.notifications.inbox(of: user, limit: 9).map(\.notification.id)
    }
    for user in [users[0], users[700]] { #expect(try await inbox(user) == [second]) }
    #expect(try await inbox(users[Self.size - 1]) == [first])
    #expect(
      try await store.outbox.deliveries(of: first).filter { $0.state == .queued }.count == 1)
    #expect(try await store.outbox.deliveries(of: second).count == Self.size - 1)
  }

  @Test func `what is not written is withdrawn with the notification`() async throws {
    let (store, users) = try await open()
    _ = try await store.notifications.create(new(to: users))
    #expect(try await store.notifications.writeNextParts(within: .zero))
    #expect(try await store.notifications.withdraw(0))
    #expect(try await !store.notifications.writeNextParts(within: .zero))
    #expect(try await jobs(store).isEmpty)
    let last = users[Self.size - 1]
    #expect(try await store.notifications.isFetchRecorded(0, user: last, device: nil) == nil)
  }

  @Test func `a user and a device that were removed meanwhile get nothing`() async throws {
    let (store, users) = try await open()
    _ = try await store.notifications.create(new(to: users))
    _ = try await store.accounts.removeUser("user3")
    let withoutDevice = users[5]
    #expect(
      try await store.accounts.removeRegistration(
        "device \(withoutDevice.rawValue)", user: withoutDevice))
    try await writeAll(store)
    #expect(try await store.notifications.receipts(of: 0).count == Self.size - 1)
    #expect(try await events(store, of: withoutDevice) == 1)
    let jobs = try await jobs(store)
    #expect(jobs.count == Self.size - 2 && !jobs.contains("device \(withoutDevice.rawValue)"))
  }

  @Test func `a scheduled notification is announced to all once it is due`() async throws {
    let (store, users) = try await open()
    var new = new(to: users)
    new.notBefore = scratch.now + 10
    _ = try await store.notifications.create(new)
    #expect(try await store.notifications.writeNextParts(within: .zero))
    scratch.pass(11)
    #expect(try await store.events.releaseHeldEvents() == nil)
    try await writeAll(store)
    for user in [users[0], users[700], users[Self.size - 1]] {
      #expect(try await events(store, of: user) == 1)
    }
    _ = try await store.notifications.create(new)
    try await writeAll(store)
    #expect(try await events(store, of: users[700]) == 2)
  }

  @Test func `the devices of a scheduled notification are sent nothing before it is due`()
    async throws
  {
    let (store, users) = try await open()
    var new = new(to: users)
    let due = scratch.now + 10
    new.notBefore = due
    _ = try await store.notifications.create(new)
    try await writeAll(store)
    let jobs = try await store.outbox.deliveries(of: 0)
    #expect(jobs.count == Self.size && jobs.allSatisfy { $0.due == due })
  }

  @Test func `an amendment is pushed to all, and what it replaces is cancelled`() async throws {
    let (store, users) = try await open()
    _ = try await store.notifications.create(new(to: users))
    try await store.notifications.completeAudience(of: 0)
    #expect(try await !store.notifications.writeNextParts(within: .zero))
    var amended = new(to: users)
    amended.message = "Changed"
    #expect(try await store.notifications.amend(0, with: amended)?.message == "Changed")
    try await writeAll(store)
    #expect(try await events(store, of: users[700]) == 2)
    let states = try await store.outbox.deliveries(of: 0).map(\.state)
    #expect(states.count { $0 == .cancelled } == Self.size)
    #expect(states.count { $0 == .queued } == Self.size)
  }
}
