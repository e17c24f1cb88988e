import FoundationEssentials
import Primitives
import Testing

@testable import Store

/// Codes by which devices get their tokens.
@Suite(.timeLimit(.minutes(1))) struct PairingTests {
  private let scratch = Scratch()

  private func hash(_ text: String) -> Digest { Digest(of: text) }

  private func device(_ id: String) -> NewDevice {
    NewDevice(registration: id, token: hash("token of \(id)"))
  }

  @Test func `a code makes one device with a token, once`() async throws {
    let store = try scratch.open()
    let made = try await store.pairings.addPairing(hash("long"), short: hash("SHORT"), of: alice)
    let pairing = try #require(made)
    #expect(pairing.expires == scratch.now + 900)
    #expect(try await store.pairings.pairings(of: alice) == [pairing])
    #expect(try await store.pairings.pairings(of: bob).isEmpty)
    var phone = device("phone")
    (phone.name, phone.language, phone.timeZone) = ("Anna's iPhone", "de-CH", "Europe/Zurich")
    phone.origin = RegistrationOrigin(credential: "code", userAgent: "Safari")
    let result = try await store.pairings.redeemPairing(hash("long"), for: phone)
    #expect(result == .paired(user: alice, name: "alice"))
    let found = try #require(try await store.accounts.device(withToken: phone.token))
    #expect(found.registration == "phone" && found.user == alice)
    let registration = try #require(try await store.accounts.registrations(ofUser: alice).first)
    #expect(registration.platform == nil && registration.name == "Anna's iPhone")
    #expect(registration.language == "de-CH" && registration.timeZone == "Europe/Zurich")
    #expect(registration.tags == ["username:alice"])
    #expect(registration.origin.credential == "code" && registration.origin.userAgent == "Safari")
    for code in ["long", "SHORT"] {
      #expect(
        try await store.pairings.redeemPairing(hash(code), for: device("second")) == .ended)
    }
    #expect(try await store.pairings.pairings(of: alice).isEmpty)
    #expect(try await store.accounts.registrations(ofUser: alice).count == 1)
  }

  @Test func `the short code is the same as the long one`() async throws {
    let store = try scratch.open()
    _ = try await store.pairings.addPairing(hash("long"), short: hash("SHORT"), of: bob)
    #expect(
      try await store.pairings.redeemPairing(hash("SHORT"), for: device("phone"))
        == .paired(user: bob, name: "bob"))
    #expect(
      try await store.pairings.redeemPairing(hash("long"), for: device("phone")) == .ended)
  }

  @Test func `of many who use a code at the same moment one succeeds`() async throws {
    let store = try scratch.open()
    _ = try await store.pairings.addPairing(hash("long"), short: hash("SHORT"), of: alice)
    let results = try await withThrowingTaskGroup(of: PairingResult.self) { group in
      for number in 0..<20 {
        group.addTask {
          try await store.pairings.redeemPairing(
            hash(number.isMultiple(of: 2) ? "long" : "SHORT"), for: device("phone\(number)"))
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(results.filter { $0 == .paired(user: alice, name: "alice") }.count == 1)
    #expect(results.filter { $0 == .ended }.count == 19)
    #expect(try await store.accounts.registrations(ofUser: alice).count == 1)
  }

  @Test(.postgres) func `of two nodes that use a code at the same moment one succeeds`()
    async throws
  {
    let (one, other) = (try scratch.open(), try scratch.open(.shared))
    for number in 0..<20 {
      let code = hash("code \(number)")
      _ = try await one.pairings.addPairing(code, short: hash("S\(number)"), of: alice)
      async let first = one.pairings.redeemPairing(code, for: device("a\(number)"))
      async let second = other.pairings.redeemPairing(code, for: device("b\(number)"))
      let results = try await [first, second]
      #expect(Set(results.map { $0 == .ended }) == [true, false], "\(results)")
    }
  }

  @Test func `it ends after fifteen minutes, and is forgotten after a day`() async throws {
    let store = try scratch.open()
    _ = try await store.pairings.addPairing(hash("long"), short: hash("SHORT"), of: alice)
    scratch.pass(900)
    #expect(try await store.pairings.pairings(of: alice).isEmpty)
    #expect(
      try await store.pairings.redeemPairing(hash("long"), for: device("phone")) == .ended)
    #expect(try await store.pairings.forwardPairing(hash("long"), to: hash("next")) == .ended)
    _ = try await store.collect(Retention())
    #expect(
      try await store.pairings.redeemPairing(hash("long"), for: device("phone")) == .ended)
    scratch.pass(86_401)
    _ = try await store.collect(Retention())
    let left = try await store.count("pairing")
    #expect(left == 0)
    #expect(
      try await store.pairings.redeemPairing(hash("long"), for: device("phone")) == .unknown)
  }

  @Test func `it is revoked by its user, or by anybody who names no user`() async throws {
    let store = try scratch.open()
    let all = store.pairings
    let first = try #require(try await all.addPairing(hash("1"), short: hash("A"), of: alice))
    let second = try #require(try await all.addPairing(hash("2"), short: hash("B"), of: alice))
    #expect(try await !all.endPairing(first.id, user: bob))
    #expect(try await all.endPairing(first.id, user: alice))
    #expect(try await !all.endPairing(first.id, user: alice))
    #expect(try await all.endPairing(second.id, user: nil))
    for code in ["1", "2", "A", "B"] {
      #expect(try await all.redeemPairing(hash(code), for: device("phone")) == .ended)
    }
  }

  @Test func `five are open at most, whatever has ended`() async throws {
    let store = try scratch.open()
    let all = store.pairings
    for number in 0..<5 {
      _ = try await all.addPairing(hash("\(number)"), short: hash("S\(number)"), of: alice)
    }
    let error = await #expect(throws: StoreError.self) {
      try await all.addPairing(hash("5"), short: hash("S5"), of: alice)
    }
    #expect(error?.code == .conflict)
    _ = try await all.addPairing(hash("bob's"), short: hash("BOB"), of: bob)
    _ = try await all.redeemPairing(hash("2"), for: device("phone"))
    #expect(try await all.addPairing(hash("5"), short: hash("S5"), of: alice) != nil)
    scratch.pass(900)
    #expect(try await all.addPairing(hash("6"), short: hash("S6"), of: alice) != nil)
    #expect(
      try await all.addPairing(hash("7"), short: hash("S7"), of: UserID(rawValue: 99)) == nil)
  }

  @Test func `who has no room for a device keeps the code`() async throws {
    let store = try scratch.open()
    _ = try await store.accounts.setMaxDevices(of: "alice", to: 1)
    try await store.register("old", of: alice)
    _ = try await store.pairings.addPairing(hash("long"), short: hash("SHORT"), of: alice)
    let error = await #expect(throws: StoreError.self) {
      try await store.pairings.redeemPairing(hash("long"), for: device("new"))
    }
    #expect(error?.code == .conflict)
    #expect(try await store.accounts.removeRegistration("old", user: alice))
    #expect(
      try await store.pairings.redeemPairing(hash("long"), for: device("new"))
        == .paired(user: alice, name: "alice"))
    // The paired one counts.
    _ = try await store.pairings.addPairing(hash("long 2"), short: hash("SHORT 2"), of: alice)
    await #expect(throws: StoreError.self) {
      try await store.pairings.redeemPairing(hash("long 2"), for: device("newer"))
    }
  }

  @Test func `an earlier registration of the user is replaced, and another user's is not`()
    async throws
  {
    let store = try scratch.open()
    try await store.register("hers", of: bob)
    try await store.register("mine", of: alice)
    let former = try await store.addToken("mine", of: alice)
    _ = try await store.pairings.addPairing(hash("long"), short: hash("SHORT"), of: alice)
    #expect(
      try await store.pairings.redeemPairing(hash("long"), for: device("hers")) == .notOwn)
    #expect(
      try await store.pairings.redeemPairing(hash("long"), for: device("mine"))
        == .paired(user: alice, name: "alice"))
    #expect(try await store.accounts.device(withToken: former) == nil)
    #expect(try await store.accounts.registrations(ofUser: alice).map(\.platform) == [nil])
    #expect(try await store.accounts.registrations(ofUser: bob).map(\.platform) == ["fcm"])
  }

  @Test func `a paired device names its platform later, and gets pushes only then`() async throws {
    let store = try scratch.open()
    _ = try await store.pairings.addPairing(hash("long"), short: hash("SHORT"), of: alice)
    _ = try await store.pairings.redeemPairing(hash("long"), for: device("phone"))
    let clause = [TagClause(with: ["username:alice"])]
    #expect(try await store.accounts.devices(matching: clause).counts == [nil: 1])
    #expect(try await store.accounts.deviceCounts().isEmpty)
    var change = RegistrationChange(platform: "fcm", handle: "token")
    (change.tags, change.isRenewal) = (["username:alice", "news"], true)
    #expect(
      try await store.accounts.putRegistration("phone", user: alice, change)
        == .stored(endedOf: nil))
    #expect(try await store.accounts.devices(matching: clause).counts == ["fcm": 1])
    #expect(try await store.accounts.device(withToken: hash("token of phone")) != nil)
  }

  @Test func `another takes its place, once, for the app on the home screen`() async throws {
    let store = try scratch.open()
    let all = store.pairings
    _ = try await all.addPairing(hash("long"), short: hash("SHORT"), of: alice)
    scratch.pass(600)
    guard case .forwarded(let next) = try await all.forwardPairing(hash("long"), to: hash("next"))
    else {
      Issue.record("it was not forwarded")
      return
    }
    // Not later than the first: otherwise a link could be kept alive for ever.
    #expect(next.expires == scratch.now + 300)
    #expect(try await all.pairings(of: alice) == [next])
    #expect(try await all.forwardPairing(hash("long"), to: hash("third")) == .ended)
    #expect(try await all.redeemPairing(hash("SHORT"), for: device("phone")) == .ended)
    #expect(try await all.forwardPairing(hash("never"), to: hash("third")) == .unknown)
    #expect(
      try await all.redeemPairing(hash("next"), for: device("phone"))
        == .paired(user: alice, name: "alice"))
  }

  @Test func `a new password, the end of the credentials and the removal of the user end all`()
    async throws
  {
    let store = try scratch.open()
    let dora = try await store.user("dora")
    let all = store.pairings
    let ends: [(String, @Sendable () async throws -> Void)] = [
      ("word", { _ = try await store.accounts.setPassword(of: "dora", hash: "h2") }),
      ("put", { _ = try await store.administration.putUser("dora", role: .device, hash: "h3") }),
      ("end", { _ = try await store.administration.endCredentials(of: dora) }),
    ]
    for (name, end) in ends {
      _ = try await all.addPairing(hash(name), short: hash("S" + name), of: dora)
      try await end()
      #expect(try await all.pairings(of: dora).isEmpty, "\(name)")
      #expect(try await all.redeemPairing(hash(name), for: device("phone")) == .ended)
    }
    _ = try await all.addPairing(hash("last"), short: hash("S"), of: dora)
    #expect(try await store.accounts.removeUser("dora"))
    #expect(try await all.redeemPairing(hash("last"), for: device("phone")) == .unknown)
  }
}
