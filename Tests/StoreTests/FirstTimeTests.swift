import Dispatch
import FoundationEssentials
import Testing

@testable import Store

/// When a notification was first fetched, sent and read, though several of that are written together.
@Suite(.timeLimit(.minutes(1))) struct FirstTimeTests {
  private let scratch = Scratch()

  @Test func `the first time is the earliest of those that share a transaction`() async throws {
    let store = try scratch.open()
    let id = try await store.notifications.create(.any(to: alice, bob, carol)).notification.id
    let gate = DispatchSemaphore(value: 0)
    store.holdWriter(until: gate)
    scratch.pass(60)
    let first = scratch.now
    for user in [alice, bob, carol] {
      store.notifications.recordSent([id], user: user)
      store.notifications.recordFetched(id, user: user)
      scratch.pass(60)
    }
    gate.signal()
    try await store.probe()
    let counts = try #require(try await store.sent.counts(of: id))
    #expect(counts.fetched == 3 && counts.firstFetched == first)
    #expect(counts.firstSent == first)
  }
}
