import Dispatch
import FoundationEssentials
import Testing

@testable import Store

@Suite(.timeLimit(.minutes(1))) struct InboxTests {
  private let scratch = Scratch()

  @Test func `pages through a user's own notifications from the newest`() async throws {
    let store = try scratch.open()
    for index in 0..<7 { _ = try await store.create(.any(to: index == 3 ? bob : alice)) }
    let first = try store.inbox(of: alice, limit: 4).map(\.notification.id)
    #expect(first == [6, 5, 4, 2])
    let rest = try store.inbox(of: alice, limit: 4, before: 2).map(\.notification.id)
    #expect(rest == [1, 0])
  }

  @Test func `leaves out what was read when only the unread is wanted`() async throws {
    let store = try scratch.open()
    for _ in 0..<3 { _ = try await store.create(.any(to: alice, bob)) }
    #expect(try await store.markRead(1, user: alice))
    let unread = try store.inbox(of: alice, unreadOnly: true, limit: 9).map(\.notification.id)
    #expect(unread == [2, 0])
    #expect(try store.inbox(of: alice, limit: 9).map(\.isRead) == [false, true, false])
    #expect(try store.unreadCount(of: alice) == 2)
    #expect(try store.unreadCount(of: bob) == 3)
  }

  @Test func `lets nobody touch a notification that is not theirs`() async throws {
    let store = try scratch.open()
    _ = try await store.create(.any(to: alice))
    #expect(try store.isRecipient(0, user: alice))
    #expect(try !store.isRecipient(0, user: bob))
    #expect(try await !store.markRead(0, user: bob))
    #expect(try await !store.markRead(1, user: alice))
    _ = try await store.create(.any(to: alice, bob))
    #expect(try store.soleRecipient(of: 0) == alice)
    #expect(try store.soleRecipient(of: 1) == nil && store.soleRecipient(of: 2) == nil)
  }

  @Test func `keeps the first time of a push, of a fetch and of a reading`() async throws {
    let store = try scratch.open()
    _ = try await store.create(.any(to: bob, alice))
    let start = scratch.now
    store.recordSent([0], user: bob)
    store.recordFetched(0, user: alice)
    _ = try await store.markRead(0, user: bob)
    scratch.pass(5)
    store.recordSent([0], user: bob)
    store.recordFetched(0, user: alice)
    _ = try await store.markRead(0, user: bob)
    #expect(
      try store.receipts(of: 0) == [
        Receipt(userID: alice, user: "alice", sent: nil, fetched: start, read: nil),
        Receipt(userID: bob, user: "bob", sent: start, fetched: nil, read: start),
      ])
  }

  @Test func `records every one of more fetches than fit into one commit`() async throws {
    let store = try scratch.open()
    _ = try await store.create(.any(to: alice))
    let gate = DispatchSemaphore(value: 0)
    store.database.writeSoon { _ in gate.wait() }
    for _ in 0..<2500 { store.recordFetched(7, user: alice) }
    store.recordFetched(0, user: alice)
    gate.signal()
    // Each of the commits asks for the next one.
    for _ in 0..<3 { try await store.probe() }
    #expect(try store.receipts(of: 0).map(\.fetched) == [scratch.now])
  }

  @Test func `keeps what each device did, when it says which one it is`() async throws {
    let store = try scratch.open()
    for (id, user) in [("a1", alice), ("a2", alice), ("b1", bob)] {
      _ = try await store.putRegistration(
        id, user: user, platform: "apns", handle: "token \(id)", tags: [])
    }
    _ = try await store.create(.any(to: alice))
    let start = scratch.now
    store.recordFetched(0, user: alice, device: "a1")
    store.recordFetched(0, user: alice, device: "b1")
    store.recordFetched(0, user: bob, device: "b1")
    scratch.pass(5)
    store.recordFetched(0, user: alice, device: "a1")
    store.recordFetched(0, user: alice, device: "a2")
    #expect(try await store.markRead(0, user: alice, device: "a2"))
    #expect(
      try store.deviceReceipts(of: 0) == [
        DeviceReceipt(user: "alice", registration: "a1", fetched: start, read: nil),
        DeviceReceipt(user: "alice", registration: "a2", fetched: start + 5, read: start + 5),
      ])
    #expect(try store.receipts(of: 0).map(\.fetched) == [start])
    let told = try store.events(after: 0, limit: 9).map(\.data).filter { !$0.contains("lane") }
    #expect(
      told
        == [("a1", "fetched"), ("a2", "fetched"), ("a2", "read")].map {
          #"{"notification":0,"user":"alice","device":"\#($0)","state":"\#($1)"}"#
        })
  }
}
