import Testing

@testable import Store

@Suite(.timeLimit(.minutes(1))) struct UserTests {
  private let scratch = Scratch()

  @Test func `finds a user with hash and role`() async throws {
    let store = try scratch.open()
    try await store.addUser("bob", hash: "$y$1", role: .publisher)
    try await store.addUser("alice", hash: "$y$2", role: .device)
    #expect(try store.users().map(\.name) == ["alice", "bob"])
    let bob = try #require(try store.user(named: "bob"))
    #expect(bob.hash == "$y$1" && bob.role == .publisher && bob.created == scratch.now)
    #expect(try store.user(named: "BOB") == nil)
  }

  @Test func `refuses a name that is taken`() async throws {
    let store = try scratch.open()
    try await store.addUser("bob", hash: "1", role: .admin)
    await #expect(throws: StoreError(.conflict, "user “bob” already exists")) {
      try await store.addUser("bob", hash: "2", role: .device)
    }
    #expect(try store.user(named: "bob")?.hash == "1")
  }

  @Test func `replaces a password`() async throws {
    let store = try scratch.open()
    try await store.addUser("bob", hash: "1", role: .admin)
    #expect(try await store.setPassword(of: "bob", hash: "2"))
    #expect(try store.user(named: "bob")?.hash == "2")
    #expect(try await !store.setPassword(of: "nobody", hash: "2"))
    // One without a password has none to replace.
    #expect(try await !store.setPassword(of: "alice", hash: "2"))
    #expect(try store.user(named: "alice") == nil)
  }

  @Test func `tells by a number that users have changed`() async throws {
    let store = try scratch.open()
    var seen = [try store.userChanges()]
    try await store.addUser("dora", hash: "1", role: .admin)
    seen.append(try store.userChanges())
    _ = try await store.setPassword(of: "dora", hash: "2")
    seen.append(try store.userChanges())
    _ = try await store.removeUser("dora")
    seen.append(try store.userChanges())
    #expect(Set(seen).count == 4)
    #expect(try store.userChanges() == seen.last)
  }

  @Test func `removes a user with the user's devices`() async throws {
    let store = try scratch.open()
    try await store.addUser("bob", hash: "1", role: .admin)
    _ = try await store.registration(
      forHandle: "AA", user: try #require(try store.user(named: "bob")).id)
    #expect(try await store.removeUser("bob"))
    #expect(try await !store.removeUser("bob"))
    #expect(try store.devices(matching: [TagClause(with: [])]).isEmpty)
  }

  @Test func `lets a command add a user while the server runs`() async throws {
    let server = try scratch.open()
    try await scratch.open(.shared).addUser("bob", hash: "1", role: .admin)
    #expect(try server.user(named: "bob")?.role == .admin)
  }
}
