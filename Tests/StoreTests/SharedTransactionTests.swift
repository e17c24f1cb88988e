import Dispatch
import FoundationEssentials
import Synchronization
import Testing

@testable import Store

/// Changes that share a transaction of PostgreSQL, of which one fails; `PostgresSystemTests` runs these tests.
@Suite(.enabled(if: Scratch.server != nil, "only with PostgreSQL"), .timeLimit(.minutes(1)))
struct SharedTransactionTests {
  private struct Refused: Error {}

  private let scratch = Scratch()

  @Test(arguments: [false, true])
  func `what a change that fails has collected is not written with the others`(
    hasWritten: Bool
  ) async throws {
    let store = try scratch.open()
    let database = try #require(store.tables as? PostgresTables).database
    let now = scratch.now
    @Sendable func event(_ data: String, _ transaction: PostgresTransaction) {
      transaction.collected.pushEvents.append(
        .init(users: [alice], notification: nil, data: data, time: now))
      transaction.collected.events.append(
        .init(type: "test", publisher: nil, user: nil, notification: nil, data: data, time: now))
    }
    let push = PushInsert(lane: "refused", target: .audience("tag", user: alice), kind: "alert")
    let lanes = Mutex<Set<String>>([])
    store.observers.onJobs.add { new in lanes.withLock { $0.formUnion(new) } }
    let gate = DispatchSemaphore(value: 0)
    store.holdWriter(until: gate)
    let failures = Mutex<[String]>([])
    for data in ["first", "refused", "last"] {
      database.writeSoon(within: nil) { transaction in
        event(data, transaction)
        guard data == "refused" else { return }
        if hasWritten {
          try transaction.run("SELECT pg_current_xact_id()")
          transaction.insert(push, at: now)
        }
        throw Refused()
      } onFailure: { error in
        failures.withLock { $0.append("\(data) \(type(of: error))") }
      }
    }
    // The thread that writes waits again each time it makes its changes again.
    for _ in 0..<9 { gate.signal() }
    try await store.probe()
    #expect(failures.withLock { $0 } == ["refused Refused"])
    let pushes = try await store.events.pushEvents(for: alice, after: 0, limit: 9)
    #expect(Set(pushes.map(\.data)) == ["first", "last"] && pushes.count == 2)
    let events = try await store.events.events(after: 0, limit: 9)
    #expect(Set(events.map(\.data)) == ["first", "last"] && events.count == 2)
    #expect(pushes.map(\.sequence) == [1, 2] && events.map(\.sequence) == [1, 2])
    #expect(try await store.outbox.jobs(limit: 9).isEmpty && lanes.withLock { $0.isEmpty })
  }
}
