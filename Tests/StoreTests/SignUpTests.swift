import FoundationEssentials
import Primitives
import Testing

@testable import Store

/// Users who have added themselves.
@Suite(.timeLimit(.minutes(1))) struct SignUpTests {
  private let scratch = Scratch()

  private func new(
    _ user: String, _ subjects: [String] = ["news"], isWaiting: Bool = false
  ) -> NewSignUp {
    NewSignUp(
      user: user, hash: "unknown", subjects: subjects, isWaiting: isWaiting,
      device: NewDevice(registration: "of-\(user)", token: Digest(of: user)))
  }

  private func id(_ user: String, _ store: Store) async throws -> UserID {
    try #require(try await store.accounts.user(named: user)).id
  }

  private func run(_ sql: String, _ store: Store) async throws {
    if let tables = store.tables as? PostgresTables {
      try await tables.database.run(sql)
    } else {
      try await store.database.run(sql)
    }
  }

  private func audience(_ clause: TagClause, _ store: Store) async throws -> Int {
    try await store.accounts.devices(matching: [clause]).count
  }

  @Test func `one gets a user, a device and the subjects at once`() async throws {
    let store = try scratch.open()
    var guest = new("guest-1", ["news", "offers"])
    guest.device.name = "Pixel"
    #expect(try await store.signUps.signUp(guest) == .added(endedOf: nil))
    let user = try await id("guest-1", store)
    #expect(try await store.accounts.user(named: "guest-1")?.role == .device)
    #expect(try await store.accounts.device(withToken: Digest(of: "guest-1"))?.user == user)
    let device = try #require(try await store.accounts.registrations(ofUser: user).first)
    #expect(device.tags == ["news", "offers", "username:guest-1"])
    #expect(device.name == "Pixel" && device.platform == nil)
    #expect(try await store.signUps.isWaiting(user) == false)
    #expect(try await store.signUps.isWaiting(alice) == nil)
    #expect(try await store.signUps.signUps(after: nil, limit: 9).isEmpty)
    #expect(try await store.signUps.signUp(new("guest-1")) == .nameTaken)
  }

  @Test func `with a subscription it can be pushed to at once`() async throws {
    let store = try scratch.open()
    var guest = new("guest-1")
    var change = RegistrationChange(platform: "webpush", handle: "https://push.example/1")
    (change.keys, change.lane) = ("p.a", "webpush:a")
    guest.change = change
    #expect(try await store.signUps.signUp(guest) == .added(endedOf: nil))
    let device = try #require(
      try await store.accounts.registrations(ofUser: id("guest-1", store)).first)
    #expect(device.platform == "webpush" && device.tags == ["news", "username:guest-1"])
    #expect(try await store.accounts.device(withToken: Digest(of: "guest-1")) != nil)
    // The same browser again is another guest's then.
    guest.user = "guest-2"
    guest.device = NewDevice(registration: "again", token: Digest(of: "again"))
    guard case .added(let former?) = try await store.signUps.signUp(guest) else {
      Issue.record("it is not known whose it was")
      return
    }
    #expect(former.name == "guest-1")
    // An id that somebody has is refused, and no user is left.
    var thief = new("guest-3")
    thief.device.registration = "again"
    #expect(try await store.signUps.signUp(thief) == .deviceTaken)
    #expect(try await store.accounts.user(named: "guest-3") == nil)
  }

  @Test func `who waits belongs to no audience until an admin approves`() async throws {
    let store = try scratch.open()
    _ = try await store.signUps.signUp(new("guest-1", isWaiting: true))
    scratch.pass(1)
    _ = try await store.signUps.signUp(new("guest-2", isWaiting: true))
    let waiting = try await store.signUps.signUps(after: nil, limit: 9)
    #expect(waiting.map(\.user) == ["guest-1", "guest-2"] && waiting[0].subjects == ["news"])
    #expect(waiting[1].created == scratch.now)
    #expect(
      try await store.signUps.signUps(after: waiting[0].id, limit: 9).map(\.user) == ["guest-2"])
    #expect(try await store.signUps.signUps(after: nil, limit: 1).map(\.user) == ["guest-1"])
    let everybody = TagClause(with: [], without: ["nothing"])
    #expect(try await audience(everybody, store) == 0)
    #expect(try await audience(TagClause(with: ["news"]), store) == 0)
    #expect(try await store.signUps.approveSignUp(of: "guest-1"))
    #expect(try await !store.signUps.approveSignUp(of: "guest-1"))
    #expect(try await audience(everybody, store) == 1)
    #expect(try await audience(TagClause(with: ["news"]), store) == 1)
    #expect(try await store.signUps.isWaiting(waiting[0].id) == false)
    #expect(try await store.signUps.isWaiting(waiting[1].id) == true)
    #expect(try await !store.signUps.refuseSignUp(of: "guest-1"))
    #expect(try await !store.signUps.refuseSignUp(of: "alice"))
    #expect(try await store.signUps.refuseSignUp(of: "guest-2"))
    #expect(try await store.accounts.user(named: "guest-2") == nil)
    #expect(try await store.accounts.device(withToken: Digest(of: "guest-2")) == nil)
    #expect(try await store.signUps.signUps(after: nil, limit: 9).isEmpty)
  }

  @Test func `so many wait at most, and no more`() async throws {
    let store = try scratch.open()
    try await run(
      """
      INSERT INTO users(name, hash, role, created)
      WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 10000)
      SELECT 'waiting-' || n, 'h', 'device', 0 FROM numbers
      """, store)
    try await run(
      """
      INSERT INTO sign_up(user_id, subjects, created, waiting)
      SELECT id, '["news"]', 0, 1 FROM users WHERE name LIKE 'waiting-%'
      """, store)
    let error = await #expect(throws: StoreError.self) {
      try await store.signUps.signUp(new("guest-1", isWaiting: true))
    }
    #expect(error?.code == .exhausted && error?.retryAfter != nil)
    #expect(try await store.accounts.user(named: "guest-1") == nil)
    #expect(try await store.signUps.approveSignUp(of: "waiting-1"))
    #expect(
      try await store.signUps.signUp(new("guest-1", isWaiting: true)) == .added(endedOf: nil))
  }

  @Test func `a user whose last device is gone is removed, since nobody can be it again`()
    async throws
  {
    let store = try scratch.open()
    for number in 1...3 { _ = try await store.signUps.signUp(new("guest-\(number)")) }
    let (first, second) = (try await id("guest-1", store), try await id("guest-2", store))
    #expect(try await store.accounts.removeRegistration("of-guest-1", user: first))
    #expect(try await store.accounts.removeRegistration("of-guest-2", user: second))
    // An admin pairs another phone for the second.
    _ = try await store.pairings.addPairing(Digest(of: "1"), short: Digest(of: "2"), of: second)
    _ = try await store.collect(Retention())
    let names = try await store.accounts.users().map(\.name)
    #expect(names == ["guest-2", "guest-3"])
    // One who has a password is a user like any other.
    #expect(try await store.accounts.setPassword(of: "guest-2", hash: "known"))
    #expect(try await store.signUps.isWaiting(second) == nil)
    scratch.pass(90_000)
    _ = try await store.collect(Retention())
    _ = try await store.collect(Retention())
    #expect(try await store.accounts.user(named: "guest-2") != nil)
  }
}
