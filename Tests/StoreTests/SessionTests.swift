import FoundationEssentials
import Testing

@testable import Store

/// Sign-ins on web pages, and when they end.
@Suite(.timeLimit(.minutes(1))) struct SessionTests {
  private let scratch = Scratch()

  private func hash(_ number: Int) -> Digest { Digest(of: "token \(number)") }

  @Test func `a token leads to its user until the session has ended`() async throws {
    let store = try scratch.open()
    try await store.accounts.addUser("dora", hash: "h", role: .publisher)
    let dora = try #require(try await store.accounts.user(named: "dora")).id
    #expect(try await store.sessions.addSession(hash(1), user: dora, userAgent: "Browser"))
    let found = try #require(try await store.sessions.sessionUser(withToken: hash(1)))
    #expect(found.id == dora && found.name == "dora" && found.role == .publisher)
    #expect(!found.isPasswordless && found.expires == scratch.now + 12 * 3600)
    #expect(try await store.sessions.sessionUser(withToken: hash(2)) == nil)
    #expect(try await store.sessions.sessions(of: dora).map(\.userAgent) == ["Browser"])
    #expect(try await !store.sessions.removeSession(found.session, user: alice))
    #expect(try await store.sessions.removeSession(found.session, user: dora))
    #expect(try await store.sessions.sessionUser(withToken: hash(1)) == nil)
  }

  @Test func `it ends after twelve hours, however it is used`() async throws {
    let store = try scratch.open()
    _ = try await store.sessions.addSession(hash(1), user: alice, userAgent: "")
    scratch.pass(12 * 3600 - 1)
    #expect(try await store.sessions.sessionUser(withToken: hash(1)) != nil)
    scratch.pass(1)
    #expect(try await store.sessions.sessionUser(withToken: hash(1)) == nil)
    #expect(try await store.sessions.sessions(of: alice).isEmpty)
    _ = try await store.collect(Retention())
    let left = try await store.count("session")
    #expect(left == 0)
  }

  @Test func `the user's twenty newest stay, and others' are not counted`() async throws {
    let store = try scratch.open()
    _ = try await store.sessions.addSession(hash(0), user: bob, userAgent: "")
    for number in 1...21 {
      _ = try await store.sessions.addSession(hash(number), user: alice, userAgent: "\(number)")
    }
    #expect(try await store.sessions.sessionUser(withToken: hash(1)) == nil)
    #expect(
      try await store.sessions.sessions(of: alice).map(\.userAgent)
        == (2...21).reversed().map(String.init))
    #expect(try await store.sessions.sessionUser(withToken: hash(0))?.id == bob)
  }

  @Test func `a change of the own password ends all other sign-ins, unless it comes too late`()
    async throws
  {
    let store = try scratch.open()
    try await store.accounts.addUser("dora", hash: "old", role: .publisher)
    let dora = try #require(try await store.accounts.user(named: "dora")).id
    for name in ["own", "other"] {
      _ = try await store.sessions.addSession(Digest(of: name), user: dora, userAgent: "")
    }
    func change(from old: String, to hash: String, in current: String) async throws -> Bool {
      let session = SessionRenewal(
        current: Digest(of: current), next: Digest(of: "next of \(current)"), userAgent: "")
      return try await store.accounts.changePassword(
        of: dora, from: old, to: hash, renewing: session)
    }
    func sessions() async throws -> Set<String> {
      var found: Set<String> = []
      for name in ["own", "other", "next of own", "next of other"]
      where try await store.sessions.sessionUser(withToken: Digest(of: name)) != nil {
        found.insert(name)
      }
      return found
    }
    #expect(try await change(from: "old", to: "new", in: "own"))
    #expect(try await sessions() == ["next of own"])
    // An administrator has given another password, or ended the session, after the old one was verified.
    #expect(try await !change(from: "old", to: "taken", in: "next of own"))
    #expect(try await !change(from: "new", to: "taken", in: "other"))
    #expect(try await sessions() == ["next of own"])
    #expect(try await store.accounts.user(named: "dora")?.hash == "new")
  }

  @Test func `a new password and the removal of the user end all`() async throws {
    let store = try scratch.open()
    for name in ["dora", "emil"] {
      try await store.accounts.addUser(name, hash: "h", role: .publisher)
      let id = try #require(try await store.accounts.user(named: name)).id
      for number in 0..<2 {
        _ = try await store.sessions.addSession(
          Digest(of: name + "\(number)"), user: id, userAgent: "")
      }
    }
    #expect(try await store.accounts.setPassword(of: "dora", hash: "new"))
    #expect(try await store.sessions.sessionUser(withToken: Digest(of: "dora0")) == nil)
    #expect(try await store.sessions.sessionUser(withToken: Digest(of: "dora1")) == nil)
    #expect(try await store.sessions.sessionUser(withToken: Digest(of: "emil0")) != nil)
    #expect(try await store.accounts.removeUser("emil"))
    #expect(try await store.sessions.sessionUser(withToken: Digest(of: "emil0")) == nil)
    #expect(
      try await !store.sessions.addSession(
        hash(9), user: UserID(rawValue: 99), userAgent: ""), "there is no such user")
  }

  @Test func `the time of its use is written every few minutes`() async throws {
    let store = try scratch.open()
    _ = try await store.sessions.addSession(hash(1), user: alice, userAgent: "")
    let created = scratch.now
    for (seconds, isWritten) in [(200.0, false), (200.0, true)] {
      scratch.pass(seconds)
      _ = try await store.sessions.sessionUser(withToken: hash(1))
      try await store.probe()
      let used = try #require(try await store.sessions.sessions(of: alice).first).used
      #expect((used > created) == isWritten)
    }
  }
}
