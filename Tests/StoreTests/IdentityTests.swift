import FoundationEssentials
import Testing

@testable import Store

/// Users as a provider knows them, and what begins when they sign in there.
@Suite(.timeLimit(.minutes(1))) struct IdentityTests {
  private let scratch = Scratch()
  private static let issuer = "https://login.example"

  private func identity(_ subject: String) -> Identity {
    Identity(issuer: Self.issuer, subject: subject)
  }

  private func signIn(
    _ subject: String, _ attempt: String = "1", named name: String? = nil, role: Role? = nil,
    session: String? = nil
  ) -> ProviderSignIn {
    var new = ProviderSignIn(
      Digest(of: "attempt \(subject) \(attempt)"), of: identity(subject),
      beginning: .session(Digest(of: "token \(subject) \(attempt)"), userAgent: "Browser"))
    (new.newName, new.role, new.session, new.token) = (name, role, session, "ey.ey.sig")
    return new
  }

  private func user(_ subject: String, _ attempt: String = "1", in store: Store) async throws
    -> SessionUser?
  {
    try await store.sessions.sessionUser(withToken: Digest(of: "token \(subject) \(attempt)"))
  }

  @Test func `somebody new becomes a user without a password, and is the same one later`()
    async throws
  {
    let store = try scratch.open()
    let first = try await store.identities.signIn(signIn("s-1", named: "dora"))
    let dora = try #require(try await store.accounts.user(named: "dora"))
    #expect(first == .signedIn(dora.id, name: "dora", isNew: true))
    #expect(dora.role == .device && !dora.hasPassword)
    let session = try #require(try await user("s-1", in: store))
    #expect(session.name == "dora" && !session.isPasswordless)
    #expect(try await store.identities.providerToken(ofSession: session.session) == "ey.ey.sig")
    // The provider has given the person another name.
    let second = try await store.identities.signIn(signIn("s-1", "2", named: "dorothy"))
    #expect(second == .signedIn(dora.id, name: "dora", isNew: false))
    #expect(try await store.accounts.user(named: "dorothy") == nil)
    #expect(
      try await store.identities.identities(of: [dora.id, alice]) == [dora.id: [identity("s-1")]])
    // The same subject of another provider is somebody else.
    var other = signIn("s-1", "3")
    other.identity = Identity(issuer: "https://other.example", subject: "s-1")
    #expect(try await store.identities.signIn(other) == .unknown)
  }

  @Test func `a sign-in counts once, whatever became of it`() async throws {
    let store = try scratch.open()
    _ = try await store.identities.signIn(signIn("s-1", named: "dora"))
    var again = signIn("s-1", named: "dora")
    again.beginning = .session(Digest(of: "another"), userAgent: "")
    #expect(try await store.identities.signIn(again) == .used)
    #expect(try await store.sessions.sessionUser(withToken: Digest(of: "another")) == nil)
    #expect(try await store.identities.signIn(signIn("s-2")) == .unknown)
    #expect(try await store.identities.signIn(signIn("s-2", named: "emil")) == .used)
    #expect(try await store.accounts.user(named: "emil") == nil)
    scratch.pass(3601)
    _ = try await store.collect(Retention())
    #expect(try await store.count("used_sign_in") == 0)
  }

  @Test func `nobody takes over a user by a name, also not in other letters`() async throws {
    let store = try scratch.open()
    try await store.accounts.addUser("Dora", hash: "h", role: .admin)
    for name in ["Dora", "dora", "DORA"] {
      let result = try await store.identities.signIn(signIn("s-1", name, named: name))
      #expect(result == .nameTaken(name))
      #expect(try await user("s-1", name, in: store) == nil)
    }
    #expect(try await !store.identities.link("nobody", with: identity("s-1")))
    #expect(try await store.identities.link("Dora", with: identity("s-1")))
    let dora = try #require(try await store.accounts.user(named: "Dora"))
    #expect(
      try await store.identities.signIn(signIn("s-1", "linked", named: "x"))
        == .signedIn(dora.id, name: "Dora", isNew: false))
    #expect(dora.hasPassword && dora.role == .admin, "nothing of the user has changed")
    try await store.accounts.addUser("emil", hash: "h", role: .device)
    await #expect(throws: StoreError.self) {
      try await store.identities.link("emil", with: identity("s-1"))
    }
    // A second one does not take its place.
    #expect(try await store.identities.link("Dora", with: identity("s-1")))
    await #expect {
      try await store.identities.link("Dora", with: identity("s-2"))
    } throws: { error in
      let error = error as? StoreError
      return error?.code == .conflict && error?.reason.contains("“s-1”") == true
    }
    #expect(
      try await store.identities.identities(of: [dora.id]) == [dora.id: [identity("s-1")]])
    // Without the link the session ends, and nobody is signed in by it again.
    #expect(try await store.identities.unlink("Dora"))
    #expect(try await !store.identities.unlink("Dora"))
    #expect(try await user("s-1", "linked", in: store) == nil)
    #expect(try await store.identities.signIn(signIn("s-1", "later")) == .unknown)
  }

  @Test func `a role changes at the next sign-in, and what was scheduled is held`() async throws {
    let store = try scratch.open()
    _ = try await store.identities.signIn(signIn("s-1", named: "dora", role: .publisher))
    let dora = try #require(try await store.accounts.user(named: "dora"))
    #expect(dora.role == .publisher)
    var new = NotificationInsert(message: "m", richType: "img", payload: "p")
    (new.sender, new.recipients, new.notBefore) = (dora.id, [alice], scratch.now + 3600)
    let scheduled = try await store.notifications.create(new).notification.id
    _ = try await store.identities.signIn(signIn("s-1", "2"))
    #expect(try await user("s-1", "2", in: store)?.role == .publisher, "nil leaves it")
    _ = try await store.identities.signIn(signIn("s-1", "3", role: .device))
    #expect(try await user("s-1", "2", in: store)?.role == .device, "of every session")
    let held = try await store.notifications.notification(scheduled)
    #expect(held?.notBefore == StoredNotification.untilReleased)
  }

  @Test func `one admin stays an admin, whatever the new role`() async throws {
    let store = try scratch.open()
    try await store.accounts.addUser("rescue", hash: "h", role: .admin)
    #expect(try await store.identities.link("rescue", with: identity("s-1")))
    for (attempt, kept, role) in [("1", "rescue", Role.admin), ("2", "other", .publisher)] {
      var new = signIn("s-1", attempt, role: .publisher)
      new.keptAdmin = kept
      _ = try await store.identities.signIn(new)
      #expect(try await store.accounts.user(named: "rescue")?.role == role)
    }
  }

  @Test func `the provider ends one session, or all of a user, and no other`() async throws {
    let store = try scratch.open()
    for attempt in ["1", "2", "3"] {
      _ = try await store.identities.signIn(
        signIn("s-1", attempt, named: "dora", session: "sid-\(attempt)"))
    }
    let dora = try #require(try await store.accounts.user(named: "dora")).id
    _ = try await store.sessions.addSession(Digest(of: "own"), user: dora, userAgent: "")
    func end(_ subject: String?, _ session: String?, at issuer: String = Self.issuer) async throws
      -> Int
    {
      try await store.identities.endSessions(at: issuer, subject: subject, session: session)
    }
    #expect(try await end("s-1", "sid-1", at: "https://other.example") == 0)
    #expect(try await end("s-2", "sid-1") == 0)
    #expect(try await end(nil, "sid-1") == 1)
    #expect(try await user("s-1", "1", in: store) == nil)
    #expect(try await user("s-1", "2", in: store) != nil)
    #expect(try await end("s-1", nil) == 2)
    let own = try #require(
      try await store.sessions.sessionUser(withToken: Digest(of: "own"))?.session)
    #expect(try await store.identities.providerToken(ofSession: own) == nil)
  }

  @Test func `for the app a code begins, which adds a device`() async throws {
    let store = try scratch.open()
    var new = signIn("s-1", named: "dora")
    new.beginning = .pairing(Digest(of: "code"))
    _ = try await store.identities.signIn(new)
    let device = NewDevice(registration: "r", token: Digest(of: "t"))
    let dora = try #require(try await store.accounts.user(named: "dora")).id
    #expect(
      try await store.pairings.redeemPairing(Digest(of: "code"), for: device)
        == .paired(user: dora, name: "dora"))
    #expect(try await store.sessions.sessions(of: dora).isEmpty)
  }

  @Test func `who is removed is nobody's any more`() async throws {
    let store = try scratch.open()
    _ = try await store.identities.signIn(signIn("s-1", named: "dora"))
    #expect(try await store.accounts.removeUser("dora"))
    #expect(try await store.count("provider_identity") == 0)
    #expect(try await store.identities.signIn(signIn("s-1", "2")) == .unknown)
  }
}
