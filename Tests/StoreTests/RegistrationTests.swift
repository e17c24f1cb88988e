import FoundationEssentials
import Testing

@testable import Store

@Suite(.timeLimit(.minutes(1))) struct RegistrationTests {
  private let scratch = Scratch()

  @Test func `gives the same handle the same id`() async throws {
    let store = try scratch.open()
    let id = try await store.accounts.registration(forHandle: "AA", user: alice)
    #expect(try await store.accounts.registration(forHandle: "AA", user: alice) == id)
    #expect(try await store.accounts.registration(forHandle: "BB", user: alice) != id)
    _ = try await store.accounts.putRegistration(
      id, user: alice, platform: "apns", handle: "AA", tags: ["x"])
    #expect(try await store.accounts.registration(forHandle: "AA", user: alice) == id)
  }

  @Test func `moves a handle to the user who registered it last`() async throws {
    let store = try scratch.open()
    let id = try await store.accounts.registration(forHandle: "AA", user: alice)
    let moved = try await store.accounts.registration(forHandle: "AA", user: bob)
    #expect(moved != id)
    #expect(try await store.accounts.registrations(ofUser: alice).map(\.id) == [id])
    let change = RegistrationChange(platform: "apns", handle: "AA")
    #expect(
      try await store.accounts.putRegistration(moved, user: bob, change)
        == .stored(endedOf: FormerOwner(user: alice, name: "alice", registration: id)))
    #expect(try await store.accounts.registrations(ofUser: alice).isEmpty)
    let events = try await store.events.events(after: 0, for: alice, limit: 9)
    #expect(events.map(\.type) == ["device"])
    #expect(events.map(\.data) == [#"{"registration":"\#(id)","state":"taken over"}"#])

    #expect(
      try await store.accounts.putRegistration(id, user: alice, change)
        == .stored(endedOf: FormerOwner(user: bob, name: "bob", registration: moved)))
    #expect(try await store.accounts.registrations(ofUser: bob).isEmpty)
  }

  @Test func `leaves a handle to another user's device of another platform`() async throws {
    let store = try scratch.open()
    #expect(
      try await store.accounts.putRegistration(
        "phone", user: alice, platform: "apns", handle: "AA"))
    #expect(
      try await store.accounts.putRegistration(
        "other", user: bob, RegistrationChange(platform: "fcm", handle: "AA")) == .handleTaken)
    #expect(try await store.accounts.registrations(ofUser: alice).map(\.id) == ["phone"])
    #expect(try await store.accounts.registrations(ofUser: bob).isEmpty)
    #expect(try await store.events.events(after: 0, limit: 9).isEmpty)
  }

  @Test func `a renewal changes the handle, and neither adds a device nor changes its platform`()
    async throws
  {
    let store = try scratch.open()
    _ = try await store.accounts.putRegistration(
      "phone", user: alice, platform: "apns", handle: "AA")
    func renew(_ id: String, _ platform: String) async throws -> RegistrationResult {
      var change = RegistrationChange(platform: platform, handle: "BB")
      change.isRenewal = true
      return try await store.accounts.putRegistration(id, user: alice, change)
    }
    #expect(try await renew("other", "apns") == .notRenewable)
    #expect(try await renew("phone", "fcm") == .notRenewable)
    #expect(try await renew("phone", "apns") == .stored(endedOf: nil))
    let found = try await store.accounts.registrations(ofUser: alice)
    #expect(found.map(\.id) == ["phone"] && found.map(\.handle) == ["BB"])
  }

  @Test func `keeps how a device came to be, its name, and when it was last there`() async throws {
    let store = try scratch.open()
    let start = scratch.now
    var change = RegistrationChange(platform: "apns", handle: "AA")
    change.name = "Anna's phone"
    change.origin = RegistrationOrigin(credential: "password", userAgent: "app/1")
    _ = try await store.accounts.putRegistration("phone", user: alice, change)
    scratch.pass(3600)
    (change.name, change.origin.userAgent) = (nil, "app/2")
    _ = try await store.accounts.putRegistration("phone", user: alice, change)
    let hash = Digest(of: "token")
    #expect(try await store.accounts.addToken(hash, to: "phone", user: alice))
    let phone = try #require(try await store.accounts.registrations(ofUser: alice).first)
    #expect(phone.name == "Anna's phone" && phone.updated == scratch.now)
    #expect(
      phone.origin
        == RegistrationOrigin(created: start, credential: "password", userAgent: "app/1"))
    #expect(phone.lastContact == scratch.now)
    for (seconds, isNew) in [(86_000, false), (600, true)] {
      scratch.pass(TimeInterval(seconds))
      _ = try await store.accounts.device(withToken: hash)
      try await store.probe()
      let contact = try await store.accounts.registrations(ofUser: alice).first?.lastContact
      #expect((contact == scratch.now) == isNew)
    }
  }

  @Test func `replaces platform, handle and tags of a registration`() async throws {
    let store = try scratch.open()
    for (handle, tags) in [("AA", ["b", "a", "b"]), ("BB", ["c"])] {
      let done = try await store.accounts.putRegistration(
        "own-id", user: alice, platform: "apns", handle: handle, tags: tags)
      #expect(done)
    }
    #expect(
      try await store.accounts.registrations(ofUser: alice) == [
        DeviceRegistration(
          id: "own-id", user: alice, platform: "apns", handle: "BB", updated: scratch.now,
          tags: ["c"], name: nil, origin: RegistrationOrigin(created: scratch.now),
          lastContact: scratch.now, ended: nil)
      ])
  }

  @Test func `devices that are silent are listed and ended`() async throws {
    let store = try scratch.open()
    let silent = ["1", "2", "3"]
    func register(_ ids: [String]) async throws {
      for id in ids {
        _ = try await store.accounts.putRegistration(
          id, user: alice, platform: "apns", handle: "token \(id)")
      }
    }
    try await register(silent)
    let fetched = try await store.notifications.create(.any(to: alice)).notification.id
    try await store.events.push(
      "{}", to: [],
      pushes: [PushInsert(lane: "apns", target: .devices(["1"]), kind: "alert")])
    scratch.pass(50 * 86_400)
    store.notifications.recordFetched(fetched, user: alice, device: silent[1])
    #expect(try await store.accounts.addToken(Digest(of: [1]), to: silent[2], user: alice))
    _ = try await store.accounts.device(withToken: Digest(of: [1]))
    try await register(["4"])
    scratch.pass(50 * 86_400)
    let since = scratch.now - 90 * 86_400
    let found = try await store.administration.silentRegistrations(
      since: since, after: "", limit: 9)
    #expect(found.map(\.registration.id) == [silent[0]] && found.map(\.user) == ["alice"])
    #expect(try await store.administration.endSilentRegistrations(since: since) == 1)
    let ended = try await store.accounts.registrations(ofUser: alice).filter { $0.ended != nil }
    #expect(ended.map(\.id) == [silent[0]])
    #expect(
      try await store.outbox.lease(lane: "apns", limit: 9, until: scratch.now + 60).isEmpty,
      "what was pushed before is not sent any more")
    #expect(
      try await store.outbox.restoreRegistrations(endedBy: "silence", since: since) == 1)
  }

  @Test func `refuses the id of another user's registration`() async throws {
    let store = try scratch.open()
    let id = try await store.accounts.registration(forHandle: "AA", user: alice)
    let stolen = try await store.accounts.putRegistration(
      id, user: bob, platform: "apns", handle: "BB", tags: [])
    #expect(!stolen)
    #expect(try await !store.accounts.removeRegistration(id, user: bob))
    #expect(try await store.accounts.registrations(ofUser: alice).map(\.handle) == ["AA"])
  }

  @Test func `removes a registration with its tags`() async throws {
    let store = try scratch.open()
    _ = try await store.accounts.putRegistration(
      "1", user: alice, platform: "apns", handle: "AA", tags: ["a"])
    #expect(try await store.accounts.removeRegistration("1", user: alice))
    #expect(try await store.count("registration_tag") == 0)
  }

  @Test func `unsent pushes follow a subscription to the lane of its new endpoint`() async throws {
    let store = try scratch.open()
    func put(_ endpoint: String, _ lane: String, of id: String = "b") async throws {
      _ = try await store.accounts.putRegistration(
        id, user: alice, platform: "webpush", handle: endpoint, tags: ["username:alice"],
        keys: "p.a", lane: lane)
    }
    try await put("https://one/a", "webpush:https://one")
    try await put("https://one/b", "webpush:https://one", of: "c")
    let devices = try await store.accounts.devices(matching: [TagClause(with: ["username:alice"])])
    #expect(devices.map(\.lane) == ["webpush:https://one", "webpush:https://one"])
    var new = NotificationInsert.any(to: alice)
    new.pushes = [
      PushInsert(
        lane: "webpush:https://one", target: .devices(["b", "c"]), kind: "alert")
    ]
    _ = try await store.notifications.create(new)
    #expect(try await store.outbox.lanes(beginningWith: "webpush:") == ["webpush:https://one"])

    try await put("https://two/a", "webpush:https://two")
    #expect(
      try await store.outbox.lanes(beginningWith: "webpush:")
        == ["webpush:https://one", "webpush:https://two"])
    #expect(try await store.outbox.lanes(beginningWith: "webpush:https://t").count == 1)
    #expect(try await store.outbox.lanes(beginningWith: "x").isEmpty)
    let moved = try await store.outbox.settleAndLease(
      [], lane: "webpush:https://two", limit: 9, until: scratch.now + 60)
    #expect(moved.map(\.target) == [.subscription(endpoint: "https://two/a", keys: "p.a")])
    let stayed = try await store.outbox.settleAndLease(
      [], lane: "webpush:https://one", limit: 9, until: scratch.now + 60)
    #expect(stayed.map(\.target) == [.subscription(endpoint: "https://one/b", keys: "p.a")])
  }

  @Test func `finds each device once, however many clauses it matches`() async throws {
    let store = try scratch.open()
    let ids = ["9", "B", "_", "a", "ab", "b~", "c-1", "é"]
    for (index, id) in ids.enumerated() {
      let tags = ["x", "y", "z"].enumerated().filter { (index + 1) >> $0.offset & 1 == 1 }
      _ = try await store.accounts.putRegistration(
        id, user: index < 4 ? alice : bob, platform: index == 2 ? "fcm" : "apns",
        handle: "token \(id)", tags: tags.map(\.element), keys: nil,
        lane: index == 5 ? "own" : nil)
    }
    let clauses = [
      TagClause(with: ["x"]), TagClause(with: ["y"]), TagClause(with: [], without: ["x", "z"]),
    ]
    let devices = try await store.accounts.devices(matching: clauses)
    #expect(devices.map(\.registration) == ids.filter { $0 != "a" })
    #expect(devices.users == devices.map(\.user))
    #expect(devices.ofUsers { $0 == bob }.map(\.registration) == Array(ids[4...]))
    #expect(devices.counts == ["apns": 6, "fcm": 1])
    let lanes = devices.registrations { platform, own, _ in
      platform == "fcm" ? nil : own ?? platform
    }
    #expect(lanes == ["apns": ["9", "B", "ab", "c-1", "é"], "own": ["b~"]])
  }

  @Test func `a device that is no subscription any more has no keys and no lane`() async throws {
    let store = try scratch.open()
    _ = try await store.accounts.putRegistration(
      "b", user: alice, platform: "webpush", handle: "https://one/a", tags: ["x"], keys: "p.a",
      lane: "webpush:https://one")
    _ = try await store.accounts.putRegistration(
      "b", user: alice, platform: "apns", handle: "AA", tags: ["x"])
    let devices = try await store.accounts.devices(matching: [TagClause(with: ["x"])])
    #expect(devices.map(\.lane) == [nil])
  }

  @Test func `keeps its two newest tokens, also of many from one moment`() async throws {
    let store = try scratch.open()
    let id = try await store.accounts.registration(forHandle: "AA", user: alice)
    func isKnown(_ number: Int) async throws -> Bool {
      try await store.accounts.device(withToken: Digest(of: "token \(number)")) != nil
    }
    for number in 0..<12 {
      #expect(
        try await store.accounts.addToken(Digest(of: "token \(number)"), to: id, user: alice))
      var areKnown: [Bool] = []
      for older in 0..<min(number + 1, 3) { areKnown.append(try await isKnown(number - older)) }
      #expect(areKnown == Array([true, true, false].prefix(number + 1)), "\(number)")
    }
    #expect(try await !store.accounts.addToken(Digest(of: "foreign"), to: id, user: bob))
  }

  @Test func `keeps the key of Web Push, of which each data folder has its own`() async throws {
    let secret = try await scratch.open().accounts.vapidSecret()
    #expect(secret.count == 64 && secret.allSatisfy(\.isHexDigit))
    #expect(try await scratch.open(.shared).accounts.vapidSecret() == secret)
    #expect(try await Scratch().open().accounts.vapidSecret() != secret)
  }
}
