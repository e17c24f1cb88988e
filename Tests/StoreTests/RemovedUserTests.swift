import FoundationEssentials
import Testing

@testable import Store

/// What is left of a user who was removed, for whoever gets the name next, and for publishers.
@Suite(.timeLimit(.minutes(1))) struct RemovedUserTests {
  private let scratch = Scratch()

  @Test func `the next owner of a name inherits nothing`() async throws {
    let store = try scratch.open()
    let first = try await add("alice", to: store)
    _ = try await store.accounts.putRegistration(
      "phone", user: first, platform: "apns", handle: "AA", tags: ["username:alice"])
    var new = NotificationInsert.any(to: first)
    new.pushes = [
      PushInsert(lane: "apns", target: .devices(["phone"]), kind: "alert"),
      PushInsert(lane: "azure", target: .audience("username:alice", user: first), kind: "alert"),
    ]
    _ = try await store.notifications.create(new)
    new.notBefore = scratch.now + 60
    _ = try await store.notifications.create(new)
    store.notifications.recordFetched(0, user: first, device: "phone")
    _ = try await store.notifications.markRead(0, user: first, device: "phone")
    #expect(try await store.count("device_receipt") == 1)

    #expect(try await store.accounts.removeUser("alice"))
    let second = try await add("alice", to: store)
    #expect(second != first)
    scratch.pass(61)
    #expect(try await store.events.releaseHeldEvents() == nil)
    for user in [first, second] {
      #expect(try await store.events.pushEvents(for: user, after: 0, limit: 9).isEmpty)
      #expect(try await store.accounts.registrations(ofUser: user).isEmpty)
    }
    #expect(try await store.notifications.inbox(of: second, limit: 9).isEmpty)
    #expect(try await store.notifications.unreadCount(of: second) == 0)
    #expect(try await store.notifications.isFetchRecorded(0, user: second, device: nil) == nil)
    #expect(try await !store.notifications.markRead(0, user: second))
    #expect(
      try await store.accounts.devices(matching: [TagClause(with: ["username:alice"])]).isEmpty)
    for lane in ["apns", "azure"] {
      #expect(try await store.outbox.lease(lane: lane, limit: 9, until: scratch.now).isEmpty)
    }
    #expect(try await store.count("device_receipt") == 0)
    #expect(try await store.outbox.deliveries(of: 0).allSatisfy { $0.user == nil })
  }

  @Test func `what a removed user still asks for leaves nothing under the name`() async throws {
    let store = try scratch.open()
    let first = try await add("alice", to: store)
    _ = try await store.notifications.create(.any(to: first))
    #expect(try await store.accounts.removeUser("alice"))
    #expect(
      try await !store.accounts.putRegistration(
        "phone", user: first, platform: "apns", handle: "AA", tags: ["username:alice"]))
    _ = try await store.accounts.registration(forHandle: "BB", user: first)
    #expect(try await store.accounts.devices(matching: [TagClause(with: [])]).isEmpty)
    _ = try #require(
      try await store.notifications.amend(0, with: .any(to: first, message: "other")))
    #expect(try await store.events.pushEvents(for: first, after: 0, limit: 9).isEmpty)
  }

  @Test func `a publisher's receipts keep the counts, without the name`() async throws {
    let store = try scratch.open()
    let first = try await add("alice", to: store)
    var new = NotificationInsert.any(to: first, bob)
    new.sender = shop
    _ = try await store.notifications.create(new)
    _ = try await store.notifications.markRead(0, user: first)
    #expect(
      try await store.events.events(after: 0, for: shop, limit: 9).contains {
        $0.data.contains("alice")
      })
    #expect(try await store.accounts.removeUser("alice"))
    let receipts = try await store.notifications.receipts(of: 0)
    #expect(receipts.map(\.user) == ["bob", nil])
    #expect(receipts.map { $0.read != nil } == [false, true])
    let events = try await store.events.events(after: 0, for: shop, limit: 9)
    #expect(events.count == 3 && events.allSatisfy { !$0.data.contains("alice") })
    #expect(events.last?.data == #"{"notification":0,"user":null,"state":"read"}"#)
    _ = try await add("alice", to: store)
    #expect(try await store.notifications.receipts(of: 0).map(\.user) == ["bob", nil])
  }

  @Test func `the next owner of a publisher's name has neither receipts nor keys`() async throws {
    let store = try scratch.open()
    let first = try await add("press", to: store)
    var new = NotificationInsert.any(to: bob)
    (new.sender, new.idempotencyKey) = (first, IdempotencyKey("k", request: []))
    _ = try await store.notifications.create(new)
    #expect(try await store.accounts.removeUser("press"))
    let second = try await add("press", to: store)
    #expect(try await store.events.events(after: 0, for: second, limit: 9).isEmpty)
    #expect(try await store.notifications.notification(0)?.sender != second)
    new.sender = second
    #expect(try await store.notifications.create(new).isNew)
    #expect(try await store.notifications.inbox(of: bob, limit: 9).count == 2)
  }

  enum Loss: CaseIterable { case removed, removedByAdmin, demoted }

  @Test(arguments: Loss.allCases)
  func `what a former publisher has scheduled is held until it gets another time`(_ loss: Loss)
    async throws
  {
    let store = try scratch.open()
    let press = try await add("press", to: store)
    _ = try await store.accounts.putRegistration(
      "phone", user: bob, platform: "apns", handle: "AA", tags: ["username:bob"])
    var new = NotificationInsert.any(to: bob)
    new.pushes = [PushInsert(lane: "apns", target: .devices(["phone"]), kind: "alert")]
    new.event = "{}"
    new.sender = press
    _ = try await store.notifications.create(new)
    let due = scratch.now + 60
    new.notBefore = due
    _ = try await store.notifications.create(new)
    new.sender = shop
    _ = try await store.notifications.create(new)

    switch loss {
    case .removed: #expect(try await store.accounts.removeUser("press"))
    case .removedByAdmin:
      #expect(try await store.administration.removeUserUnlessLastAdmin("press"))
    case .demoted: _ = try await store.administration.putUser("press", role: .device, hash: nil)
    }
    scratch.pass(3600)
    while try await store.events.releaseHeldEvents().map({ $0 <= scratch.now }) == true {}
    let seen = try await store.notifications.inbox(of: bob, limit: 9).map(\.notification.id)
    #expect(seen.sorted() == [0, 2])
    let pushes = try await store.events.pushEvents(for: bob, after: 0, limit: 9)
    #expect(pushes.map(\.notificationID) == [0, 2])
    #expect(
      try await store.outbox.lease(lane: "apns", limit: 9, until: scratch.now + 60).map(
        \.notificationID)
        == [0, 2])
    let held = try await store.sent.sent(by: nil, before: nil, limit: 9).filter {
      $0.notification.held != nil
    }
    #expect(held.map(\.notification.id) == [1])
    #expect(held.first?.notification.held == due)

    new.sender = press
    new.notBefore = nil
    let released = try #require(try await store.notifications.amend(1, with: new))
    #expect(released.held == nil && released.notBefore == nil)
    #expect(
      try await store.outbox.lease(lane: "apns", limit: 9, until: scratch.now + 60).map(
        \.notificationID)
        == [1])
    #expect(try await store.notifications.inbox(of: bob, limit: 9).count == 3)
  }

  @Test func `what was for a guest is not for the user who is added with the name`() async throws {
    let store = try scratch.open()
    #expect(try await store.accounts.userIDs(of: ["eve"], allowingPasswordless: false).isEmpty)
    let ids = try await store.accounts.userIDs(of: ["eve"], allowingPasswordless: true)
    let guest = try #require(ids["eve"])
    _ = try await store.notifications.create(.any(to: guest))
    #expect(try await store.accounts.userID(of: "eve", allowingPasswordless: true) == guest)
    #expect(try await store.accounts.userID(of: "eve", allowingPasswordless: false) == nil)
    let eve = try await add("eve", to: store)
    #expect(eve != guest)
    #expect(try await store.notifications.inbox(of: eve, limit: 9).isEmpty)
  }

  @Test func `guests are gone where passwords count, and users are not`() async throws {
    let store = try scratch.open()
    let carl = try await add("carl", to: store)
    _ = try await store.notifications.create(.any(to: bob, carl))
    store.accounts.removePasswordlessUsers()
    try await store.probe()
    #expect(try await store.accounts.userID(of: "bob", allowingPasswordless: true) == nil)
    #expect(try await store.notifications.receipts(of: 0).map(\.user) == ["carl", nil])
    #expect(try await store.notifications.inbox(of: carl, limit: 9).count == 1)
  }

  private func add(_ name: String, to store: Store) async throws -> UserID {
    try await store.accounts.addUser(name, hash: "$y$", role: .publisher)
    return try #require(try await store.accounts.user(named: name)).id
  }

  @Test func `takes the user's events and idempotency keys along`() async throws {
    let store = try scratch.open()
    try await store.accounts.addUser("press", hash: "h", role: .publisher)
    let press = try #require(try await store.accounts.user(named: "press")).id
    let key = IdempotencyKey("k", request: [])
    var new = NotificationInsert.any(to: alice)
    (new.sender, new.idempotencyKey) = (press, key)
    _ = try await store.notifications.create(new)
    #expect(try await store.events.events(after: 0, limit: 9).count == 1)
    #expect(try await store.accounts.removeUser("press"))
    #expect(try await store.events.events(after: 0, limit: 9).isEmpty)
    #expect(try await store.notifications.notification(for: key, sender: press) == nil)
    #expect(try await store.notifications.notification(0)?.message == new.message)
  }
}
