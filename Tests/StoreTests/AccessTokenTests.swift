import FoundationEssentials
import Primitives
import Testing

@testable import Store

/// Tokens of publishers, and when they end.
@Suite(.timeLimit(.minutes(1))) struct AccessTokenTests {
  private let scratch = Scratch()

  private func hash(_ number: Int) -> Digest { Digest(of: "token \(number)") }

  private func scope(expiresIn seconds: Double? = nil) -> AccessTokenScope {
    var scope = AccessTokenScope()
    scope.expires = seconds.map { scratch.now + $0 }
    return scope
  }

  /// Adds a publisher.
  private func dora(_ store: Store) async throws -> UserID {
    try await store.accounts.addUser("dora", hash: "h", role: .publisher)
    return try #require(try await store.accounts.user(named: "dora")).id
  }

  @Test func `a token leads to its user and what it allows, until it is removed`() async throws {
    let store = try scratch.open()
    let dora = try await dora(store)
    var scope = scope(expiresIn: 60)
    (scope.to, scope.rate, scope.readsReceipts) = (["news", "username:alice"], 10, true)
    scope.readsAudit = true
    let made = try await store.accessTokens.addAccessToken(hash(1), "ci", scope, of: dora)
    let added = try #require(made)
    #expect(added.name == "ci" && added.user == "dora" && added.created == scratch.now)
    #expect(added.scope == scope && added.used == nil && added.address == nil)
    let owner = try #require(try await store.accessTokens.owner(ofAccessToken: hash(1)))
    #expect(
      owner
        == AccessTokenOwner(
          token: added.id, scope: scope, user: dora, name: "dora", role: .publisher,
          isPasswordless: false))
    #expect(try await store.accessTokens.owner(ofAccessToken: hash(2)) == nil)
    #expect(try await store.accessTokens.accessTokens(of: dora) == [added])
    #expect(try await store.accessTokens.accessTokens(of: alice).isEmpty)
    #expect(try await store.accessTokens.accessTokens(of: nil) == [added])

    #expect(try await !store.accessTokens.removeAccessToken(added.id, of: alice))
    #expect(try await store.accessTokens.removeAccessToken(added.id, of: dora))
    #expect(try await !store.accessTokens.removeAccessToken(added.id, of: dora))
    #expect(try await store.accessTokens.owner(ofAccessToken: hash(1)) == nil)
  }

  @Test func `one that has expired does not count, is listed for 30 days, and then removed`()
    async throws
  {
    let store = try scratch.open()
    for (number, seconds) in [60.0, nil].enumerated() {
      _ = try await store.accessTokens.addAccessToken(
        hash(number), "t\(number)", scope(expiresIn: seconds), of: alice)
    }
    scratch.pass(59)
    #expect(try await store.accessTokens.owner(ofAccessToken: hash(0)) != nil)
    scratch.pass(1)
    #expect(try await store.accessTokens.owner(ofAccessToken: hash(0)) == nil)
    #expect(try await store.accessTokens.owner(ofAccessToken: hash(1)) != nil)
    for (days, left) in [(30.0, ["t1", "t0"]), (1, ["t1"])] {
      scratch.pass(days * 86_400 - 1)
      _ = try await store.collect(Retention())
      #expect(try await store.accessTokens.accessTokens(of: alice).map(\.name) == left)
    }
  }

  @Test func `a user has fifty, each with a name of its own`() async throws {
    let store = try scratch.open()
    func add(_ number: Int, _ name: String, of user: UserID) async throws -> Int? {
      try await store.accessTokens.addAccessToken(hash(number), name, scope(), of: user)?.id
    }
    _ = try await add(-1, "t0", of: bob)
    for number in 0..<50 { #expect(try await add(number, "t\(number)", of: alice) != nil) }
    for (number, name, words) in [(50, "t50", "50 access tokens"), (51, "t7", "“t7” already")] {
      await #expect {
        try await add(number, name, of: alice)
      } throws: { error in
        let error = error as? StoreError
        return error?.code == .conflict && error?.reason.contains(words) == true
      }
    }
    let last = try await store.accessTokens.accessTokens(of: alice)[0]
    #expect(last.name == "t49")
    #expect(try await store.accessTokens.removeAccessToken(last.id, of: nil))
    #expect(try await add(50, "t50", of: alice) ?? 0 > last.id)
    #expect(try await add(52, "t52", of: UserID(rawValue: 999)) == nil, "there is no such user")
  }

  @Test func `they end with the user's credentials and with the user, but not with the password`()
    async throws
  {
    let store = try scratch.open()
    let dora = try await dora(store)
    func add(_ number: Int) async throws {
      _ = try await store.accessTokens.addAccessToken(hash(number), "t", scope(), of: dora)
    }
    try await add(1)
    #expect(try await store.accounts.setPassword(of: "dora", hash: "new"))
    #expect(try await store.accessTokens.owner(ofAccessToken: hash(1)) != nil)
    #expect(try await store.administration.endCredentials(of: dora))
    #expect(try await store.accessTokens.owner(ofAccessToken: hash(1)) == nil)
    try await add(2)
    #expect(try await store.accounts.removeUser("dora"))
    #expect(try await store.accessTokens.owner(ofAccessToken: hash(2)) == nil)
    #expect(try await store.count("access_token") == 0)
  }

  @Test func `tokens that end soon or have ended lately are listed, the first to end first`()
    async throws
  {
    let store = try scratch.open()
    for (number, seconds) in [(1, 1000.0), (2, 100), (3, 400), (4, nil), (5, 5000), (6, 404)] {
      let scope = scope(expiresIn: seconds)
      _ = try await store.accessTokens.addAccessToken(
        hash(number), "t\(number)", scope, of: number == 3 ? bob : alice)
    }
    func names(_ limit: Int = 9) async throws -> [String] {
      try await store.accessTokens.accessTokens(
        endingNear: scratch.now, notice: 200, share: 4, limit: limit
      ).map { "\($0.name) of \($0.user)" }
    }
    var passed = 0.0
    for (time, found) in [
      (74.0, [String]()), (75, ["t2 of alice"]), (125, ["t2 of alice"]), (126, []),
      (300, ["t3 of bob"]), (500, ["t3 of bob", "t6 of alice"]), (501, ["t6 of alice"]),
      (799, []), (800, ["t1 of alice"]), (1200, ["t1 of alice"]), (1201, []), (4799, []),
      (4800, ["t5 of alice"]),
    ] {
      scratch.pass(time - passed)
      passed = time
      #expect(try await names() == found, "after \(time) seconds")
      #expect(try await names(1) == Array(found.prefix(1)))
    }
  }

  @Test func `the last use is kept with its address`() async throws {
    let store = try scratch.open()
    let added = try await store.accessTokens.addAccessToken(hash(1), "t", scope(), of: alice)
    let id = try #require(added).id
    scratch.pass(5)
    store.accessTokens.recordUse(ofAccessToken: id, from: "2001:db8::1")
    try await store.probe()
    let found = try await store.accessTokens.accessTokens(of: alice)[0]
    #expect(found.used == scratch.now && found.address == "2001:db8::1")
  }

  @Test(.sqlite) func `a backup has them, by their hashes`() async throws {
    let store = try scratch.open()
    _ = try await store.accessTokens.addAccessToken(hash(1), "t", scope(), of: alice)
    let (backup, restored) = ("\(scratch.folder)/backup", "\(scratch.folder)/restored")
    try await store.backup(to: backup)
    try Store.restore(from: backup, to: restored)
    let copy = try Store(folder: restored)
    #expect(try await copy.accessTokens.owner(ofAccessToken: hash(1))?.user == alice)
    #expect(try await copy.check().findings.isEmpty)
  }
}
