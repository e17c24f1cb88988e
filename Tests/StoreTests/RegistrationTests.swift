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
    #expect(try await store.accounts.registrations(ofUser: alice).isEmpty)

    let back = try await store.accounts.putRegistration(
      id, user: alice, platform: "apns", handle: "AA", tags: [])
    #expect(back)
    #expect(try await store.accounts.registrations(ofUser: bob).isEmpty)
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
          tags: ["c"])
      ])
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
    let tags = try store.database.read { connection in
      try connection.value("SELECT count(*) FROM registration_tag", as: Int.self)
    }
    #expect(tags == 0)
  }
}
