import Synchronization
import Testing

@testable import Store

@Suite(.timeLimit(.minutes(1))) struct AmendmentTests {
  private let scratch = Scratch()

  private func new(_ message: String) -> NotificationInsert {
    var new = NotificationInsert.any(to: alice, message: message)
    new.pushes = [PushInsert(lane: "azure", target: .audience(message), kind: "alert") { "\($0)" }]
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
