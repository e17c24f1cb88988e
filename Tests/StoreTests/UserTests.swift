import Synchronization
import Testing

@testable import Store

@Suite(.timeLimit(.minutes(1))) struct UserTests {
  private let scratch = Scratch()

  @Test func `finds a user with hash and role`() async throws {
    let store = try scratch.open()
    try await store.accounts.addUser("bob", hash: "$y$1", role: .publisher)
    try await store.accounts.addUser("alice", hash: "$y$2", role: .device)
    #expect(try await store.accounts.users().map(\.name) == ["alice", "bob"])
    let bob = try #require(try await store.accounts.user(named: "bob"))
    #expect(bob.hash == "$y$1" && bob.role == .publisher && bob.created == scratch.now)
    #expect(try await store.accounts.user(named: "BOB") == nil)
  }

  @Test func `refuses a name that is taken`() async throws {
    let store = try scratch.open()
    try await store.accounts.addUser("bob", hash: "1", role: .admin)
    await #expect(throws: StoreError(.conflict, "user “bob” already exists")) {
      try await store.accounts.addUser("bob", hash: "2", role: .device)
    }
    #expect(try await store.accounts.user(named: "bob")?.hash == "1")
  }

  @Test func `completes names of users and tags, in the usual cases, and none of the server's own`()
    async throws
  {
    let store = try scratch.open()
    for name in ["Alan", "albert", "ALICIA", "bob"] {
      try await store.accounts.addUser(name, hash: "1", role: .device)
    }
    for (id, tags) in [("1", ["news", "News-2"]), ("2", ["news", "sport"])] {
      _ = try await store.accounts.putRegistration(
        id, user: alice, platform: "apns", handle: "A" + id,
        tags: tags + ["username:alice", "from:shop", "$UserId:{alice}"])
    }
    func names(_ prefix: String, _ limit: Int = 9) async throws -> [[String]] {
      let found = try await store.accounts.names(
        startingWith: prefix, includingPasswordless: false, limit: limit)
      return [found.users, found.tags]
    }
    #expect(try await names("al") == [["ALICIA", "Alan", "albert"], []])
    #expect(try await names("alb") == [["albert"], []])
    #expect(try await names("ne")[1] == ["News-2", "news"])
    #expect(try await names("")[1] == ["News-2", "news", "sport"])
    #expect(try await names("", 1) == [["ALICIA"], ["News-2"]])
    for prefix in ["username:", "from:", "$", "zz", "\u{10FFFF}"] {
      #expect(try await names(prefix) == [[], []], "\(prefix)")
    }
  }

  @Test func `replaces a password`() async throws {
    let store = try scratch.open()
    try await store.accounts.addUser("bob", hash: "1", role: .admin)
    #expect(try await store.accounts.setPassword(of: "bob", hash: "2"))
    #expect(try await store.accounts.user(named: "bob")?.hash == "2")
    #expect(try await !store.accounts.setPassword(of: "nobody", hash: "2"))
    // One without a password has none to replace.
    #expect(try await !store.accounts.setPassword(of: "alice", hash: "2"))
    #expect(try await store.accounts.user(named: "alice") == nil)
  }

  @Test func `tells whose credentials ended before the change returns`() async throws {
    let store = try scratch.open()
    let ended = Mutex<[UserID]>([])
    store.observers.onCredentialsEnded.add { user in ended.withLock { $0.append(user) } }
    try await store.accounts.addUser("dora", hash: "1", role: .admin)
    let dora = try #require(try await store.accounts.user(named: "dora")).id
    #expect(ended.withLock { $0 } == [])
    _ = try await store.accounts.setPassword(of: "dora", hash: "2")
    #expect(ended.withLock { $0 } == [dora])
    _ = try await store.accounts.removeUser("dora")
    #expect(ended.withLock { $0 } == [dora, dora])
    #expect(try await !store.accounts.removeUser("dora"))
    #expect(try await !store.accounts.setPassword(of: "dora", hash: "3"))
    #expect(ended.withLock { $0.count } == 2)
  }

  @Test func `removes a user with the user's devices`() async throws {
    let store = try scratch.open()
    try await store.accounts.addUser("bob", hash: "1", role: .admin)
    _ = try await store.accounts.registration(
      forHandle: "AA", user: try #require(try await store.accounts.user(named: "bob")).id)
    #expect(try await store.accounts.removeUser("bob"))
    #expect(try await !store.accounts.removeUser("bob"))
    #expect(try await store.accounts.devices(matching: [TagClause(with: [])]).isEmpty)
  }

  @Test func `lets a command add a user while the server runs`() async throws {
    let server = try scratch.open()
    try await scratch.open(.shared).accounts.addUser("bob", hash: "1", role: .admin)
    #expect(try await server.accounts.user(named: "bob")?.role == .admin)
  }
}
