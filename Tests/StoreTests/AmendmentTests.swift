import Synchronization
import Testing

@testable import Store

@Suite(.timeLimit(.minutes(1))) struct AmendmentTests {
  private let scratch = Scratch()

  private func new(_ message: String) -> NotificationInsert {
    var new = NotificationInsert.any(to: alice, message: message)
    new.pushes = [PushInsert(lane: "azure", target: .audience(message), kind: "alert")]
    return new
  }

  @Test func `replaces what nobody has fetched yet, and pushes again`() async throws {
    let store = try scratch.open()
    let first = try await store.notifications.create(new("first")).notification
    scratch.pass(5)
    let second = try #require(try await store.notifications.amend(first.id, with: new("second")))
    #expect(second.message == "second" && second.created == first.created)
    #expect(try await store.notifications.notification(first.id) == second)
    #expect(try await store.events.pushEvents(for: alice, after: 0, limit: 9).count == 2)
    let jobs = try await store.outbox.lease(lane: "azure", limit: 9, until: scratch.now)
    #expect(jobs.map(\.target) == [.audience("second")])
    #expect(try await store.outbox.deliveries(of: first.id).map(\.state) == [.cancelled, .queued])
  }

  @Test func `a push goes on saying what its version said`() async throws {
    let store = try scratch.open()
    var old = new("first")
    old.members = #"{"title":"t"}"#
    let id = try await store.notifications.create(old).notification.id
    _ = try await store.notifications.amend(id, with: new("second"))
    _ = try await store.notifications.amend(id, with: new("third"))
    var messages: [StoredMessage?] = []
    for push in 1...3 { messages.append(try await store.outbox.push(push)?.message) }
    #expect(
      messages == [
        StoredMessage("first", members: #"{"title":"t"}"#), StoredMessage("second"),
        StoredMessage("third"),
      ])
    #expect(try await store.outbox.push(4) == nil)
  }

  @Test func `a notification takes the place of its sender's earlier one about the same`()
    async throws
  {
    let store = try scratch.open()
    func create(_ message: String, _ sender: UserID, _ subject: String?) async throws -> Int {
      var new = new(message)
      (new.sender, new.replaces) = (sender, subject)
      return try await store.notifications.create(new).notification.id
    }
    let first = try await create("at noon", shop, "parcel")
    let others = [
      try await create("of another sender", news, "parcel"),
      try await create("about something else", shop, "bill"), try await create("any", shop, nil),
    ]
    let changes = Mutex<[Int]>([])
    store.observers.onChange.add { id in changes.withLock { $0.append(id) } }
    let second = try await create("at one", shop, "parcel")
    #expect(changes.withLock { $0 } == [first])
    func inbox() async throws -> [Int] {
      try await store.notifications.inbox(of: alice, limit: 9).map(\.notification.id)
    }
    #expect(try await inbox() == [second] + others.reversed())
    #expect(try await store.notifications.unreadCount(of: alice) == 4)
    #expect(try await store.notifications.notification(first)?.replacedBy == second)
    #expect(try await store.outbox.deliveries(of: first).map(\.state) == [.cancelled])
    let third = try await create("at two", shop, "parcel")
    #expect(try await inbox() == [third] + others.reversed())
    #expect(try await store.notifications.notification(first)?.replacedBy == second)
    #expect(try await store.notifications.notification(second)?.replacedBy == third)
  }

  @Test func `an amendment that comes again, because its answer was lost, pushes once`()
    async throws
  {
    let store = try scratch.open()
    let first = try await store.notifications.create(new("first")).notification
    let second = try await store.notifications.amend(first.id, with: new("second"))
    #expect(try await store.notifications.amend(first.id, with: new("second")) == second)
    #expect(try await store.events.pushEvents(for: alice, after: 0, limit: 9).count == 2)
    #expect(try await store.outbox.deliveries(of: first.id).map(\.state) == [.cancelled, .queued])
  }

  @Test func `notifies the observer of every change, and of nothing else`() async throws {
    let store = try scratch.open()
    let changes = Mutex<[Int]>([])
    store.observers.onChange.add { id in changes.withLock { $0.append(id) } }
    _ = try await store.notifications.create(new("first"))
    let id = try await store.notifications.create(new("second")).notification.id
    _ = try await store.notifications.amend(id, with: new("other"))
    _ = try await store.notifications.amend(id, with: new("other"))
    #expect(changes.withLock { $0 } == [id])
    _ = try await store.notifications.withdraw(id)
    _ = try await store.notifications.withdraw(id)
    #expect(changes.withLock { $0 } == [id, id])
    #expect(try await store.outbox.deliveries(of: id).map(\.state) == [.cancelled, .cancelled])
  }

  @Test func `leaves alone what somebody has fetched`() async throws {
    let store = try scratch.open()
    let first = try await store.notifications.create(new("first")).notification
    store.notifications.recordFetched(first.id, user: alice)
    #expect(try await store.notifications.amend(first.id, with: new("second")) == nil)
    #expect(try await store.notifications.amend(1, with: new("second")) == nil)
    #expect(try await store.notifications.notification(first.id) == first)
    #expect(try await store.outbox.deliveries(of: first.id).map(\.state) == [.queued])
  }
}
