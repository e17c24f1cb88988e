import FoundationEssentials
import Testing

@testable import Store

/// What follows when push services refuse devices.
@Suite(.timeLimit(.minutes(2))) struct RefusalTests {
  private let scratch = Scratch()
  private let apns = SendingLane("apns", settings: "production")

  private let users = [alice, bob, carol, shop, news]

  /// Registers devices whose IDs, in order, are numbers from `start` on, of a user or of all of them in turn.
  private func register(
    _ count: Int, from start: Int = 0, of user: UserID? = nil, lane: String? = nil, in store: Store
  ) async throws -> [String] {
    for name in ["alice", "bob", "carol", "shop", "news"] {
      _ = try await store.accounts.setMaxDevices(of: name, to: 10_000)
    }
    var ids: [String] = []
    for number in start..<start + count {
      let id = String(10_000 + number)
      ids.append(id)
      _ = try await store.accounts.putRegistration(
        id, user: user ?? users[number % users.count], platform: lane == nil ? "apns" : "webpush",
        handle: "token \(id)",
        tags: ["all"], keys: lane.map { _ in "p.a" }, lane: lane)
    }
    return ids
  }

  @discardableResult
  private func push(
    to devices: [String], lane: String = "apns", in store: Store
  ) async throws -> Int {
    var new = NotificationInsert.any(to: alice)
    new.pushes = [
      PushInsert(lane: lane, target: .devices(RegistrationIDs(devices)), kind: "alert")
    ]
    let id = try await store.notifications.create(new).notification.id
    try await store.notifications.completeAudience(of: id)
    return id
  }

  /// Sends until nothing is due; the service accepts the devices of which `knows` is true, and answers in the order
  /// of the requests.
  ///
  /// - Returns: the pause, and the devices to which pushes were sent, in order.
  @discardableResult
  private func send(
    _ store: Store, by lane: SendingLane? = nil, limit: Int = 2000,
    knows: (_ device: String) -> Bool
  ) async throws -> (pause: LanePause?, sent: [String]) {
    var (outcomes, sent): ([(job: Int, outcome: JobOutcome)], [String]) = ([], [])
    while true {
      let lease = try await store.outbox.settleAndLease(
        outcomes, lane: lane ?? apns, limit: limit, until: scratch.now + 60)
      if lease.jobs.isEmpty { return (lease.pause, sent) }
      outcomes = lease.jobs.map { job in
        let handle: String =
          switch job.target {
          case .device(let handle, _), .subscription(let handle, _): handle
          case .audience: ""
          }
        let device = String(handle.dropFirst("token ".count))
        sent.append(device)
        return (
          job.id,
          knows(device)
            ? .delivered(as: "alert", reference: nil, note: nil)
            : .refused(endsRegistration: true, since: nil, reason: "400 BadDeviceToken")
        )
      }
    }
  }

  private func ended(_ store: Store) async throws -> Set<String> {
    var ended: Set<String> = []
    for user in users {
      let all = try await store.accounts.registrations(ofUser: user)
      ended.formUnion(all.filter { $0.ended != nil }.map(\.id))
    }
    return ended
  }

  private func states(_ store: Store) async throws -> [JobState: Int] {
    Dictionary(
      grouping: try await store.outbox.jobs(in: nil, limit: .max), by: \.state
    ).mapValues(\.count)
  }

  @Test func `a pause ends when the clock is set back by more than it lasts`() async throws {
    let store = try scratch.open()
    let devices = try await register(2, in: store)
    func lease(_ outcomes: [(job: Int, outcome: JobOutcome)] = []) async throws -> Lease {
      try await store.outbox.settleAndLease(
        outcomes, lane: apns, limit: 9, until: scratch.now + 60)
    }
    try await push(to: [devices[0]], in: store)
    let job = try #require(try await lease().jobs.first)
    let stopped = try await lease([(job.id, .stopped(reason: "The key was revoked."))])
    #expect(stopped.jobs.isEmpty && stopped.pause != nil)
    scratch.pass(-86_400)
    try await push(to: [devices[1]], in: store)
    #expect(try await lease().jobs.count == 1)
    // As a probe: no other is sent until it is answered.
    try await push(to: [devices[1]], in: store)
    #expect(try await lease().jobs.isEmpty)
  }

  @Test func `a service that refuses everybody from its start ends nobody`() async throws {
    let store = try scratch.open()
    let devices = try await register(200, in: store)
    try await push(to: devices, in: store)
    let (pause, sent) = try await send(store, limit: 25) { _ in false }
    #expect(sent.count == 75, "25 at once, and 50 because of the doubt")
    #expect(try await ended(store).isEmpty)
    #expect(try await states(store) == [.queued: 200])
    let reason = try #require(pause).reason
    #expect(reason.contains("richpush push resume --lane apns"))
    #expect(reason.contains("BadDeviceToken") && reason.contains("75 pushes"))
    #expect(try await store.outbox.pauses() == [try #require(pause)])
  }

  @Test func `a service that refuses everybody at noon ends nobody`() async throws {
    let store = try scratch.open()
    let devices = try await register(60, in: store)
    try await push(to: devices, in: store)
    #expect(try await send(store) { _ in true }.pause == nil)
    for count in [19, 60] {
      try await push(to: Array(devices.prefix(count)), in: store)
      let pause = try await send(store) { _ in false }.pause
      #expect((pause == nil) == (count == 19))
    }
    #expect(try await ended(store).isEmpty)
    #expect(try await states(store) == [.sent: 60, .queued: 79])
  }

  @Test(arguments: [(5, 1000, 2000), (5, 1000, 4), (100, 200, 2000), (100, 200, 32), (100, 200, 4)])
  func `dead devices end among living ones, also if they come first`(
    dead: Int, count: Int, limit: Int
  ) async throws {
    let store = try scratch.open()
    let devices = try await register(count, in: store)
    try await push(to: devices, in: store)
    let (pause, _) = try await send(store, limit: limit) {
      Int($0).map { $0 >= 10_000 + dead } == true
    }
    #expect(pause == nil)
    #expect(try await ended(store) == Set(devices.prefix(dead)))
    #expect(try await states(store) == [.sent: count - dead, .failed: dead])
  }

  @Test func `the devices that were heard of last are tried first`() async throws {
    let store = try scratch.open()
    let old = try await register(100, in: store)
    scratch.pass(3 * 86_400)
    let fresh = try await register(30, from: 100, in: store)
    try await push(to: old + fresh, in: store)
    let (pause, sent) = try await send(store, limit: 20) { fresh.contains($0) }
    #expect(sent.prefix(20).allSatisfy { old.contains($0) })
    #expect(Set(sent.dropFirst(20).prefix(20)).isSubset(of: fresh))
    // What is left when all the living ones have their push is refused to the last.
    #expect(pause != nil)
    #expect(try await ended(store).count >= 20)
    #expect(try await ended(store).isDisjoint(with: fresh))
  }

  @Test func `the doubt and the pause survive a restart, and the pause is for one setting`()
    async throws
  {
    var devices: [String] = []
    do {
      let store = try scratch.open()
      devices = try await register(60, in: store)
      try await push(to: Array(devices[..<10]), in: store)
      #expect(try await send(store) { _ in false }.pause == nil)
    }
    do {
      let store = try scratch.open()
      try await push(to: Array(devices[10..<20]), in: store)
      #expect(try await send(store) { _ in false }.pause != nil)
    }
    let store = try scratch.open()
    try await push(to: Array(devices[20...]), in: store)
    #expect(try await send(store) { _ in true }.sent.isEmpty)
    #expect(try await states(store) == [.queued: 60])
    let corrected = SendingLane("apns", settings: "sandbox")
    try await store.outbox.begin(corrected)
    let (pause, sent) = try await send(store, by: corrected) { _ in true }
    #expect(pause == nil && sent.count == 60)
    #expect(try await store.outbox.pauses().isEmpty)
    #expect(try await ended(store).isEmpty)
  }

  @Test func `refusals under other settings end nobody`() async throws {
    let store = try scratch.open()
    let devices = try await register(12, in: store)
    try await push(to: Array(devices[..<10]), in: store)
    try await send(store) { _ in false }
    try await push(to: Array(devices[10...]), in: store)
    let other = SendingLane("apns", settings: "of another node")
    #expect(try await send(store, by: other) { _ in true }.sent.count == 2)
    #expect(try await ended(store).isEmpty)
    #expect(try await states(store) == [.sent: 2, .queued: 10])
  }

  @Test func `what was refused goes again when an operator resumes`() async throws {
    let store = try scratch.open()
    let devices = try await register(40, in: store)
    try await push(to: devices, in: store)
    #expect(try await send(store) { _ in false }.pause != nil)
    _ = try await store.collect(Retention())
    #expect(try await store.outbox.resume(lane: "fcm") == 0)
    #expect(try await store.outbox.pauses().count == 1)
    #expect(try await store.outbox.resume(lane: "apns") == 40)
    #expect(try await store.outbox.pauses().isEmpty)
    let (pause, sent) = try await send(store) { $0 != "10007" }
    #expect(pause == nil && Set(sent) == Set(devices))
    #expect(try await ended(store) == ["10007"])
    #expect(try await states(store) == [.sent: 39, .failed: 1])
  }

  @Test func `one probe is sent when a pause is over, and all the rest if it is accepted`()
    async throws
  {
    let store = try scratch.open()
    let devices = try await register(30, in: store)
    try await push(to: devices, in: store)
    var pause = try await send(store) { _ in false }.pause
    for _ in 0..<3 {
      #expect(try await send(store) { _ in true }.sent.isEmpty)
      let wait = try #require(pause).until.timeIntervalSince(scratch.now)
      #expect(60...900 ~= wait)
      scratch.pass(wait)
      let (next, sent) = try await send(store) { _ in false }
      #expect(sent.count == 1)
      #expect(try #require(next).until.timeIntervalSince(scratch.now) >= wait)
      pause = next
    }
    scratch.pass(900)
    let (end, sent) = try await send(store) { _ in true }
    #expect(end == nil && Set(sent) == Set(devices))
    #expect(try await ended(store).isEmpty)
    #expect(try await states(store) == [.sent: 30])
  }

  @Test func `a pause ends when there is nothing left to send`() async throws {
    let store = try scratch.open()
    let devices = try await register(20, in: store)
    try await push(to: devices, in: store)
    #expect(try await send(store) { _ in false }.pause != nil)
    for job in try await store.outbox.jobs(limit: 99) {
      _ = try await store.outbox.cancel(job: job.job)
    }
    _ = try await store.collect(Retention())
    #expect(try await store.outbox.pauses().isEmpty)
  }

  @Test func `a user whose devices are all refused stops nobody else`() async throws {
    let store = try scratch.open()
    let dead = try await register(64, of: bob, in: store)
    let living = try await register(2, from: 100, of: alice, in: store)
    try await push(to: dead, in: store)
    #expect(try await send(store) { _ in false }.pause != nil)
    for _ in 0..<2 {
      try await push(to: living, in: store)
      let (pause, sent) = try await send(store) { living.contains($0) }
      #expect(pause == nil && sent == living)
      #expect(try await ended(store) == Set(dead))
    }
  }

  @Test func `refused pushes do not count as attempts, and go again after a restart`() async throws
  {
    let devices: [String]
    do {
      let store = try scratch.open()
      devices = try await register(3, in: store)
      try await push(to: devices, in: store)
      for _ in 0..<30 {
        try await send(store) { _ in false }
        _ = try await store.outbox.resume(lane: nil)
      }
      try await send(store) { _ in false }
      #expect(try await store.outbox.jobs(limit: 9).allSatisfy { $0.attempts == 0 })
    }
    let store = try scratch.open()
    try await store.outbox.begin(apns)
    #expect(try await send(store) { _ in true }.sent == devices)
  }

  @Test func `refusals were wrong if the service accepts one of those devices`() async throws {
    let store = try scratch.open()
    let devices = try await register(10, in: store)
    try await push(to: devices, in: store)
    try await send(store) { _ in false }
    try await push(to: [devices[3]], in: store)
    let (_, sent) = try await send(store) { _ in true }
    #expect(sent.count == 11)
    #expect(try await ended(store).isEmpty)
  }

  @Test func `the operator's errors pause, and no push fails`() async throws {
    let store = try scratch.open()
    try await push(to: register(3, in: store), in: store)
    let jobs = try await store.outbox.lease(until: scratch.now + 60)
    let lease = try await store.outbox.settleAndLease(
      jobs.map { ($0.id, .stopped(reason: "400 BadTopic")) }, lane: SendingLane("apns"), limit: 9,
      until: scratch.now + 60)
    #expect(lease.jobs.isEmpty && lease.pause?.reason == "400 BadTopic")
    #expect(try await store.outbox.jobs(limit: 9).map(\.attempts) == [0, 0, 0])
    #expect(try await states(store) == [.queued: 3])
    _ = try await store.outbox.resume(lane: nil)
    #expect(try await store.outbox.lease(until: scratch.now + 60).count == 3)
  }

  @Test func `a device of a small service ends when another service accepts a push`()
    async throws
  {
    let store = try scratch.open()
    let small = SendingLane("webpush:https://small", settings: "key", family: "webpush:")
    let large = SendingLane("webpush:https://large", settings: "key", family: "webpush:")
    let other = SendingLane("webpush:https://other", settings: "key", family: "webpush:")
    let one = try await register(1, lane: small.name, in: store)
    let many = try await register(25, from: 100, lane: large.name, in: store)
    let living = try await register(1, from: 200, lane: other.name, in: store)
    try await push(to: one, lane: small.name, in: store)
    try await push(to: [many[0]], lane: large.name, in: store)
    for lane in [small, large] { try await send(store, by: lane) { _ in false } }
    #expect(try await ended(store).isEmpty)
    try await push(to: living, lane: other.name, in: store)
    try await send(store, by: other) { _ in true }
    #expect(try await ended(store) == Set(one))
    try await push(to: [many[1]], lane: large.name, in: store)
    try await send(store, by: large) { _ in true }
    #expect(try await ended(store) == Set(one + [many[0]]))
  }

  // MARK: Ended registrations

  /// A device that its service has ended, and one that it has not.
  private func endOne(_ store: Store) async throws -> (dead: String, living: String) {
    let devices = try await register(2, of: alice, in: store)
    try await push(to: devices, in: store)
    try await send(store) { $0 == devices[1] }
    #expect(try await ended(store) == [devices[0]])
    return (devices[0], devices[1])
  }

  @Test func `a registration that has ended is in no audience but keeps its token`() async throws {
    let store = try scratch.open()
    let (dead, living) = try await endOne(store)
    let token = Digest(of: [1])
    #expect(try await store.accounts.addToken(token, to: dead, user: alice))
    for clauses in [[TagClause(with: ["all"])], [TagClause(with: [])]] {
      let audience = try await store.accounts.devices(matching: clauses)
      #expect(audience.map(\.registration) == [living])
    }
    #expect(try await store.accounts.deviceCounts() == ["apns": 1])
    try await push(to: [dead], in: store)
    #expect(try await send(store) { _ in true }.sent.isEmpty)
    #expect(try await store.accounts.device(withToken: token)?.registration == dead)
    var change = RegistrationChange(platform: "apns", handle: "token new")
    (change.tags, change.isRenewal) = (["all"], true)
    let result = try await store.accounts.putRegistration(dead, user: alice, change)
    #expect(result == .stored(endedOf: nil))
    #expect(try await ended(store).isEmpty)
    let audience = try await store.accounts.devices(matching: [TagClause(with: ["all"])])
    #expect(audience.map(\.registration) == [dead, living])
  }

  @Test func `ended registrations can be restored, and are kept for 30 days`() async throws {
    let store = try scratch.open()
    let start = scratch.now
    let (dead, _) = try await endOne(store)
    scratch.pass(29 * 86_400)
    _ = try await store.collect(Retention())
    let outbox = store.outbox
    #expect(try await outbox.restoreRegistrations(endedBy: "fcm", since: start) == 0)
    #expect(try await outbox.restoreRegistrations(endedBy: "apns", since: scratch.now) == 0)
    #expect(try await outbox.restoreRegistrations(endedBy: "apns", since: start) == 1)
    #expect(try await ended(store).isEmpty)
    try await push(to: [dead], in: store)
    try await send(store) { _ in false }
    try await push(to: register(1, from: 50, of: alice, in: store), in: store)
    try await send(store) { _ in true }
    #expect(try await ended(store) == [dead])
    scratch.pass(31 * 86_400)
    _ = try await store.collect(Retention())
    #expect(try await store.accounts.registrations(ofUser: alice).map(\.id) == ["10001", "10050"])
  }

  @Test func `a user's ended registrations do not count, and are removed with the user`()
    async throws
  {
    let store = try scratch.open()
    let (dead, _) = try await endOne(store)
    _ = try await register(1, from: 5, of: alice, in: store)
    let change = RegistrationChange(platform: "apns", handle: "again")
    _ = try await store.accounts.setMaxDevices(of: "alice", to: 2)
    await #expect(throws: StoreError.self) {
      _ = try await store.accounts.putRegistration(dead, user: alice, change)
    }
    #expect(try await store.accounts.removeUser("alice"))
    #expect(try await store.accounts.registrations(ofUser: alice).isEmpty)
  }

  @Test func `the refused push of a device that registers again goes again`() async throws {
    let store = try scratch.open()
    let devices = try await register(1, in: store)
    try await push(to: devices, in: store)
    try await send(store) { _ in false }
    #expect(try await send(store) { _ in true }.sent.isEmpty)
    _ = try await register(1, in: store)
    #expect(try await send(store) { _ in true }.sent == devices)
  }
}
