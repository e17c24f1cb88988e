import Dispatch
import Synchronization
import Testing
import Waiting

@testable import Store

@Suite(.timeLimit(.minutes(1))) struct PendingReceiptsTests {
  private let away = StoreError(.unavailable, "away")
  private let scratch = Scratch()

  @Test func `keeps as many as it may after a failure, and writes them again`() async {
    let pending = PendingReceipts(limit: 5, pause: .milliseconds(100))
    let written = await withCheckedContinuation { done in
      let all = Mutex<[Int]>([])
      pending.keep(6, after: away) { all.withLock { $0.append(0) } }
      pending.keep(2, after: StoreError(.failed, "a mistake")) { all.withLock { $0.append(1) } }
      for number in 2...4 {
        pending.keep(number == 4 ? 1 : 2, after: away) {
          let count = all.withLock {
            $0.append(number)
            return $0.count
          }
          if count == 3 { done.resume(returning: all.withLock { $0 }) }
        }
      }
    }
    #expect(written.sorted() == [2, 3, 4])
    #expect(pending.dropped == 8)
    pending.keep(5, after: away) {}
    #expect(pending.dropped == 8, "as many may be kept again")
  }

  @Test func `fetches are committed at once when there are as many as a commit takes`() {
    let pending = PendingReceipts()
    var urgencies = (0..<2500).map { _ in pending.add([receipt(.fetched)], .soon) }
    #expect(urgencies[0] == .soon && urgencies[1999] == .now)
    urgencies.remove(at: 1999)
    #expect(urgencies.dropFirst().allSatisfy { $0 == nil })
    for left in [500, 0] {
      var asked: [PendingReceipts.Urgency] = []
      let taken = pending.take(for: .init()) { asked.append($0) }
      #expect(taken.count == (left > 0 ? 2000 : 500) && asked == (left > 0 ? [.soon] : []))
    }
    #expect(pending.add([receipt(.fetched)], .soon) == .soon)
  }

  @Test func `what was sent does not wait for further receipts, and one commit takes all`() {
    let pending = PendingReceipts()
    #expect(pending.add([receipt(.fetched)], .soon) == .soon)
    #expect(pending.add([receipt(.sent), receipt(.sent)], .now) == .now)
    #expect(pending.add([receipt(.sent)], .now) == nil && pending.add([NewReceipt](), .soon) == nil)
    let batch = PendingReceipts.Batch()
    for _ in 0..<2 {
      let taken = pending.take(for: batch) { _ in Issue.record("none is left") }
      #expect(taken.map(\.state) == [.fetched, .sent, .sent, .sent], "again if it is repeated")
    }
    #expect(pending.take(for: .init()) { _ in }.isEmpty)
  }

  private func receipt(_ state: RecordedState) -> NewReceipt {
    NewReceipt(state: state, id: 1, user: alice, time: scratch.now)
  }

  @Test(.sqlite) func `what did not fit on the disk is written when space is free`() async throws {
    let store = try scratch.open()
    let ids = 0..<200
    for _ in ids { _ = try await store.notifications.create(.any(to: alice)) }
    let time = scratch.now
    try await limit(store, to: 1)  // That is as many as there are.
    for id in ids { store.notifications.recordFetched(id, user: alice) }
    store.notifications.recordSent(Array(ids), user: alice)
    try await store.probe()
    #expect(try await store.notifications.receipts(of: 0).map(\.fetched) == [nil])
    scratch.pass(60)
    try await limit(store, to: 1 << 30)
    for id in ids {
      try await eventually("the receipts of \(id) are written") {
        try await store.notifications.receipts(of: id).allSatisfy {
          $0.fetched != nil && $0.sent != nil
        }
      }
      let receipts = try await store.notifications.receipts(of: id)
      #expect(receipts.map(\.fetched) == [time] && receipts.map(\.sent) == [time])
    }
    #expect(store.droppedReceipts == 0)
  }

  private func limit(_ store: Store, to pages: Int) async throws {
    try await store.database.write { connection in
      _ = try connection.value("PRAGMA max_page_count = \(pages)", as: Int.self)
    }
  }
}
