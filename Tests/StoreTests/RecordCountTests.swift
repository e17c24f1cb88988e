import FoundationEssentials
import Testing

@testable import Store

/// How much there is, for administrators.
@Suite(.timeLimit(.minutes(1))) struct RecordCountTests {
  private let scratch = Scratch()

  private func counts(_ store: Store, guests: Bool = false) async throws -> RecordCounts {
    try await store.administration.recordCounts(includingPasswordless: guests)
  }

  @Test func `users are counted by role, guests only if they are included`() async throws {
    let store = try scratch.open()
    #expect(try await counts(store).users == [.device: 0, .publisher: 0, .admin: 0])
    for (name, role) in [("dora", Role.publisher), ("emil", .admin), ("ida", .publisher)] {
      try await store.accounts.addUser(name, hash: "h", role: role)
    }
    #expect(try await counts(store).users == [.device: 0, .publisher: 2, .admin: 1])
    #expect(try await counts(store, guests: true).users == [.device: 5, .publisher: 2, .admin: 1])
  }

  @Test func `what is to be sent later is counted until it goes, and what awaits approval apart`()
    async throws
  {
    let store = try scratch.open()
    func create(_ change: (inout NotificationInsert) -> Void) async throws -> Int {
      var new = NotificationInsert.any(to: alice, bob)
      new.sender = shop
      change(&new)
      return try await store.notifications.create(new).notification.id
    }
    func expect(_ scheduled: Int, _ awaiting: Int, _ comment: Comment) async throws {
      let found = try await counts(store)
      #expect(found.scheduled == scheduled && found.awaitingApproval == awaiting, comment)
    }
    _ = try await create { _ in }
    let first = try await create { $0.notBefore = scratch.now + 60 }
    _ = try await create { $0.notBefore = scratch.now + 600 }
    _ = try await create { ($0.notBefore, $0.approvalAbove) = (scratch.now + 600, 1) }
    try await expect(2, 1, "one is sent, and one waits for somebody")
    #expect(try await store.notifications.withdraw(first))
    try await expect(1, 1, "one is withdrawn")
    scratch.pass(601)
    while try await store.events.releaseHeldEvents().map({ $0 <= scratch.now }) == true {}
    try await expect(0, 1, "its time has come")
  }

  @Test func `what awaits approval is counted until it is decided on or has ended`() async throws {
    let store = try scratch.open()
    var new = NotificationInsert.any(to: alice, bob)
    (new.sender, new.approvalAbove) = (shop, 1)
    let refused = try await store.notifications.create(new).notification.id
    let withdrawn = try await store.notifications.create(new).notification.id
    new.expires = scratch.now + 10
    _ = try await store.notifications.create(new)
    func expect(_ count: Int) async throws {
      #expect(try await counts(store).awaitingApproval == count)
      let listed = try await store.approvals.awaitingApproval(before: nil, limit: 9)
      #expect(listed.count == count)
    }
    try await expect(3)
    _ = try await store.approvals.decide(
      refused, .refuse(reason: "No"), by: news, isAdmin: false)
    try await expect(2)
    #expect(try await store.notifications.withdraw(withdrawn))
    try await expect(1)
    scratch.pass(10)
    try await expect(0)
  }
}
