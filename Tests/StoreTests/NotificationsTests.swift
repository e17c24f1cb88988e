import FoundationEssentials
import Testing

@testable import Store

@Suite(.timeLimit(.minutes(1))) struct NotificationsTests {
  private let scratch = Scratch()

  @Test func `numbers notifications from zero without gaps`() async throws {
    let store = try scratch.open()
    var ids: [Int] = []
    for _ in 0..<3 {
      ids.append(try await store.notifications.create(.any(to: alice)).notification.id)
    }
    #expect(ids == [0, 1, 2])
  }

  @Test func `gives back what was created after a restart`() async throws {
    var new = NotificationInsert.any(to: alice, bob, message: "Größe \u{0} “x”")
    new.sender = carol
    new.details = "{\"width\":1}"
    new.expires = scratch.now.addingTimeInterval(60)
    new.blobType = "image/png"
    var created: StoredNotification?
    do {
      let store = try scratch.open()
      new.blob = try await store.blobs.add(bytes: [1, 2, 3])
      created = try await store.notifications.create(new).notification
    }
    let found = try #require(try await scratch.open().notifications.notification(0))
    #expect(found == created)
    #expect(found.message == new.message)
    #expect(found.to == ["username:alice", "username:bob"])
    #expect(found.blob?.size == 3)
    #expect(found.created == scratch.now)
  }

  @Test func `creates once for one idempotency key`() async throws {
    let store = try scratch.open()
    var new = NotificationInsert.any(to: alice)
    new.idempotencyKey = IdempotencyKey("order-1", request: [1])
    let first = try await store.notifications.create(new)
    let again = try await store.notifications.create(new)
    #expect(first.isNew && !again.isNew)
    #expect(first.notification == again.notification)
    #expect(try await store.events.pushEvents(for: alice, after: 0, limit: 9).count == 1)

    new.sender = carol
    #expect(try await store.notifications.create(new).isNew)
  }

  @Test func `refuses an idempotency key that comes with another request`() async throws {
    let store = try scratch.open()
    var new = NotificationInsert.any(to: alice)
    new.idempotencyKey = IdempotencyKey("order-1", request: [1])
    _ = try await store.notifications.create(new)
    let other = IdempotencyKey("order-1", request: [2])
    new.idempotencyKey = other
    await #expect { try await store.notifications.create(new) } throws: {
      ($0 as? StoreError)?.code == .conflict
    }
    await #expect(throws: StoreError.self) {
      try await store.notifications.notification(for: other, sender: nil)
    }
  }

  @Test func `keeps nothing of a notification whose content is missing`() async throws {
    let store = try scratch.open()
    var new = NotificationInsert.any(to: alice)
    new.blob = Blob(digest: Digest(of: "never added"), size: 3)
    await #expect { try await store.notifications.create(new) } throws: {
      ($0 as? StoreError)?.code == .missing
    }
    #expect(try await store.events.pushEvents(for: alice, after: 0, limit: 9).isEmpty)
    #expect(try await store.notifications.create(.any(to: alice)).notification.id == 0)
  }

  @Test func `hides a notification once it has expired`() async throws {
    let store = try scratch.open()
    var new = NotificationInsert.any(to: alice)
    new.expires = scratch.now.addingTimeInterval(60)
    _ = try await store.notifications.create(new)
    #expect(try await store.notifications.notification(0) != nil)
    scratch.pass(60)
    #expect(try await store.notifications.notification(0) == nil)
    #expect(try await store.notifications.inbox(of: alice, limit: 9).isEmpty)
    #expect(try await store.notifications.unreadCount(of: alice) == 0)
    #expect(try await store.events.pushEvents(for: alice, after: 0, limit: 9).isEmpty)
  }

  @Test func `numbers what eight writers create at once without a gap or a twin`() async throws {
    let store = try scratch.open()
    let ids = try await withThrowingTaskGroup(of: [Int].self) { group in
      for writer in 0..<8 {
        group.addTask {
          var ids: [Int] = []
          for _ in 0..<25 {
            ids.append(
              try await store.notifications.create(.any(to: UserID(rawValue: writer + 1)))
                .notification.id)
          }
          return ids
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    #expect(ids.sorted() == Array(0..<200))
  }

  @Test func `keeps times to the millisecond, rounded down`() async throws {
    let store = try scratch.open()
    let start = scratch.now
    scratch.pass(0.0009)
    #expect(try await store.notifications.create(.any(to: alice)).notification.created == start)
    scratch.pass(0.001)
    let later = try await store.notifications.create(.any(to: alice)).notification.created
    #expect(abs(later.timeIntervalSince(start) - 0.001) < 0.0001)
  }
}
