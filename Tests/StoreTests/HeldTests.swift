import FoundationEssentials
import Testing

@testable import Store

/// Notifications that wait for their time.
@Suite(.timeLimit(.minutes(1))) struct HeldTests {
  private let scratch = Scratch()

  private func held(_ message: String = "later") -> NotificationInsert {
    var new = NotificationInsert.any(to: alice, message: message)
    new.notBefore = scratch.now.addingTimeInterval(60)
    return new
  }

  @Test func `are in nobody's inbox and pushed to nobody before it, and then once`() async throws {
    let store = try scratch.open()
    let held = try await store.notifications.create(held()).notification
    _ = try await store.notifications.create(.any(to: alice, message: "at once"))
    #expect(try await store.notifications.inbox(of: alice, limit: 9).map(\.notification.id) == [1])
    #expect(try await store.notifications.unreadCount(of: alice) == 1)
    #expect(try await !store.notifications.markRead(0, user: alice))
    #expect(try await store.events.releaseHeldEvents() == held.notBefore)
    #expect(
      try await store.events.pushEvents(for: alice, after: 0, limit: 9).map(\.notificationID) == [1]
    )
    scratch.pass(60)
    #expect(try await store.events.releaseHeldEvents() == nil)
    #expect(try await store.events.releaseHeldEvents() == nil)
    #expect(
      try await store.events.pushEvents(for: alice, after: 0, limit: 9).map(\.notificationID) == [
        1, 0,
      ])
    #expect(try await store.notifications.unreadCount(of: alice) == 2)
  }

  @Test func `can be moved and withdrawn until then`() async throws {
    let store = try scratch.open()
    let first = try await store.notifications.create(held()).notification
    let second = try await store.notifications.create(held()).notification
    #expect(try await store.notifications.withdraw(second.id))
    scratch.pass(30)
    _ = try #require(try await store.notifications.amend(first.id, with: held("moved")))
    scratch.pass(30)
    #expect(try await store.events.releaseHeldEvents() == scratch.now.addingTimeInterval(30))
    scratch.pass(30)
    #expect(try await store.events.releaseHeldEvents() == nil)
    #expect(try await store.events.pushEvents(for: alice, after: 0, limit: 9).count == 1)
  }
}
