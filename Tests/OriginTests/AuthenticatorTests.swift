import Delivery
import Foundation
import HTTP
import Intake
import Media
import PluginHost
import Primitives
import Push
import RichPushAPI
import Store
import Synchronization
import TestSupport
import Testing
import Waiting

@testable import Origin

@Suite(.timeLimit(.minutes(1))) struct AuthenticatorTests {
  private func basic(_ pair: String) -> String { "Basic " + Data(pair.utf8).base64EncodedString() }

  @Test func `a verified password is cached`() async throws {
    let scratch = try Scratch()
    let store = try scratch.store()
    let hash = try #require(PasswordHash.make("secret"))
    try await store.accounts.addUser("alice", hash: hash, role: .publisher)
    let authenticator = Authenticator(store: store, isDemo: false)
    let field = basic("alice:secret")
    guard case .unverified = authenticator.find(field, from: "::1") else {
      Issue.record("The password was known before it was verified.")
      return
    }
    #expect(await authenticator.verify(field, from: "::1").caller?.role == .publisher)
    guard case .caller(let caller) = authenticator.find(field, from: "::1") else {
      Issue.record("The password was forgotten.")
      return
    }
    #expect(caller.name == "alice")
    let forgetful = Authenticator(store: store, isDemo: false, logins: LoginCache(lifetime: .zero))
    #expect(await forgetful.verify(field, from: "::1").caller != nil)
    guard case .unverified = forgetful.find(field, from: "::1") else {
      Issue.record("The password is remembered for too long.")
      return
    }
  }

  @Test func `a session that was verified counts until its time is over`() throws {
    let scratch = try Scratch()
    let logins = LoginCache()
    let authenticator = Authenticator(store: try scratch.store(), isDemo: false, logins: logins)
    for (left, isKnown) in [(3600.0, true), (-1, false)] {
      let token = SessionToken()
      let proof = Caller.Proof.session(token.hash, id: 1, expires: Date() + left)
      logins.add(
        Caller(id: UserID(rawValue: 1), name: "alice", role: .device, proof: proof),
        as: logins.key(token.loginKey), verified: logins.changes.moment)
      #expect((authenticator.find(token) != nil) == isKnown)
    }
  }

  @Test(arguments: ["alice:wrong", "alice:", "bob:secret"])
  func `refuses a wrong password and an unknown name`(_ pair: String) async throws {
    let scratch = try Scratch()
    let store = try scratch.store()
    let hash = try #require(PasswordHash.make("secret"))
    try await store.accounts.addUser("alice", hash: hash, role: .device)
    let authenticator = Authenticator(store: store, isDemo: false)
    #expect(await authenticator.verify(basic(pair), from: "::1").caller == nil)
  }

  @Test(arguments: [(1597, true), (1598, false)])
  func `credentials have a limit, which no password exceeds`(length: Int, isRead: Bool) {
    let field = basic("a:" + String(repeating: "p", count: length))
    #expect((Credentials(field) != nil) == isRead)
  }

  @Test func `in demo mode any name is accepted with itself as password, and nothing else`()
    async throws
  {
    let scratch = try Scratch()
    let authenticator = Authenticator(store: try scratch.store(), isDemo: true)
    let caller = await authenticator.verify(basic("zoe:zoe"), from: "::1").caller
    #expect(caller?.mayPublish == true)
    guard case .caller(caller) = authenticator.find(basic("zoe:zoe"), from: "::1") else {
      Issue.record("The demo forgot its guest.")
      return
    }
    guard case .unverified = authenticator.find(basic("zoe:eoz"), from: "::1") else {
      Issue.record("The demo let a stranger in.")
      return
    }
  }

  @Test func `others' failures do not delay an address from which the user has signed in`()
    async throws
  {
    let scratch = try Scratch()
    let store = try scratch.store()
    try await store.accounts.addUser(
      "alice", hash: PasswordHash.make("secret") ?? "", role: .device)
    let authenticator = Authenticator(store: store, isDemo: false)
    func verify(
      _ password: String, from address: String
    ) async -> Authenticator.Verification {
      let field = basic("alice:" + password)
      return await authenticator.verify(field, from: address)
    }
    #expect(await verify("secret", from: "10.0.0.1").caller != nil)
    for number in 0..<10 { _ = await verify("guess\(number)", from: "10.0.0.2") }
    for (address, isDelayed) in [("10.0.0.1", false), ("10.0.0.3", true)] {
      let found = await verify("wrong", from: address)
      let isTooMany = if case .tooManyFailures = found { true } else { false }
      #expect(isTooMany == isDelayed, "\(address)")
    }
  }

  @Test func `a password that was changed while it was verified is not remembered`() async throws {
    let scratch = try Scratch()
    let store = try scratch.store()
    let hash = try #require(PasswordHash.make("secret"))
    try await store.accounts.addUser("alice", hash: hash, role: .device)
    let authenticator = Authenticator(store: store, isDemo: false)
    let field = basic("alice:secret")
    for _ in 0..<10 {
      // It takes longer than the change, most times: it hashes.
      async let verified = authenticator.verify(field, from: "::1")
      #expect(try await store.accounts.setPassword(of: "alice", hash: "*"))
      authenticator.invalidate(nil)
      _ = await verified
      if case .caller = authenticator.find(field, from: "::1") {
        Issue.record("the old password opens")
      }
      #expect(try await store.accounts.setPassword(of: "alice", hash: hash))
      authenticator.invalidate(nil)
    }
  }

  @Test func `nobody is remembered whose credentials end while they are read`() async throws {
    let scratch = try Scratch()
    let store = try scratch.store()
    for name in ["alice", "bob"] {
      try await store.accounts.addUser(
        name, hash: PasswordHash.make("secret") ?? "", role: .device)
    }
    let logins = LoginCache()
    let authenticator = Authenticator(store: store, isDemo: false, logins: logins)
    func caller(_ name: String) async throws -> Caller {
      let id = try #require(try await store.accounts.user(named: name)).id
      return Caller(id: id, name: name, role: .device, proof: .name)
    }
    func isRemembered(_ name: String) -> Bool {
      if case .caller = authenticator.find(basic(name), from: "::1") { true } else { false }
    }
    let (alice, bob) = (try await caller("alice"), try await caller("bob"))
    for (ended, remembered) in [(alice.id, false), (bob.id, true), (nil, false)] {
      authenticator.invalidate(nil)
      let key = logins.key(basic("alice:secret"))
      let found = await authenticator.remembering(key) {
        // What was read, and then ends.
        authenticator.invalidate(ended)
        return .caller(alice)
      }
      #expect(found.caller == alice, "the request that is under way began before")
      #expect(isRemembered("alice:secret") == remembered)
    }
  }

  @Test func `hashes are yescrypt, and never the same twice`() throws {
    let hashes = try (0..<2).map { _ in try #require(PasswordHash.make("secret")) }
    #expect(hashes.allSatisfy { $0.hasPrefix("$y$") } && hashes[0] != hashes[1])
    #expect(PasswordHash.verify("secret", hashes[0]))
    #expect(!PasswordHash.verify("Secret", hashes[0]))
    #expect(!PasswordHash.verify("secret", "*") && !PasswordHash.verify("secret", ""))
  }
}

@Suite(.timeLimit(.minutes(1))) struct HashLimiterTests {
  /// Hashes that run until they are told to end, by name.
  private actor Hashes {
    private(set) var started: [String] = []
    private var endings: [String: CheckedContinuation<Void, Never>] = [:]

    func run(_ name: String) async {
      await withCheckedContinuation { ending in
        started.append(name)
        endings[name] = ending
      }
    }

    func end(_ name: String) { endings.removeValue(forKey: name)?.resume() }

    nonisolated func waitForStart(of name: String) async throws {
      try await eventually("\(name) runs") { await started.contains(name) }
    }
  }

  private func start(
    _ name: String, isSuspect: Bool, _ limiter: HashLimiter, _ hashes: Hashes
  ) -> Task<Void, any Error> {
    Task { try await limiter.run(isSuspect: isSuspect) { await hashes.run(name) } }
  }

  @Test func `clients with failed logins come after all others, one at a time`()
    async throws
  {
    let (limiter, hashes) = (HashLimiter(width: 2), Hashes())
    let first = start("first suspect", isSuspect: true, limiter, hashes)
    try await hashes.waitForStart(of: "first suspect")
    let trusted = start("trusted", isSuspect: false, limiter, hashes)
    try await hashes.waitForStart(of: "trusted")
    let second = start("second suspect", isSuspect: true, limiter, hashes)
    try await eventually("it waits") { limiter.waiting == 1 }
    await hashes.end("trusted")
    try await trusted.value
    #expect(await hashes.started.count == 2, "a slot is free, but one suspect runs")
    let next = start("next trusted", isSuspect: false, limiter, hashes)
    try await hashes.waitForStart(of: "next trusted")
    let last = start("last trusted", isSuspect: false, limiter, hashes)
    try await eventually("it waits") { limiter.waiting == 2 }
    await hashes.end("first suspect")
    try await first.value
    try await hashes.waitForStart(of: "last trusted")
    #expect(await !hashes.started.contains("second suspect"))
    await hashes.end("next trusted")
    await hashes.end("last trusted")
    _ = try await (next.value, last.value)
    try await hashes.waitForStart(of: "second suspect")
    await hashes.end("second suspect")
    try await second.value
    #expect(limiter.waiting == 0)
  }

  @Test func `gives the result of the hash`() async throws {
    let limiter = HashLimiter(width: 1)
    for isSuspect in [false, true] {
      #expect(try await limiter.run(isSuspect: isSuspect) { 7 } == 7)
    }
  }
}

extension Authenticator.Verification {
  /// Who it is, if the password was right.
  var caller: Caller? { if case .caller(let caller, _) = self { caller } else { nil } }
}
