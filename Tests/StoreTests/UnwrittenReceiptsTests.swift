import Dispatch
import Synchronization
import Testing
import Waiting

@testable import Store

@Suite(.timeLimit(.minutes(1))) struct UnwrittenReceiptsTests {
  private let away = StoreError(.unavailable, "away")
  private let scratch = Scratch()

  @Test func `keeps as many as it may, and writes them in the order in which they failed`() async {
    let unwritten = UnwrittenReceipts(limit: 5, pause: .milliseconds(1))
    let written = await withCheckedContinuation { done in
      let all = Mutex<[Int]>([])
      unwritten.keep(6, after: away) { all.withLock { $0.append(0) } }
      unwritten.keep(2, after: StoreError(.failed, "a mistake")) { all.withLock { $0.append(1) } }
      for number in 2...4 {
        unwritten.keep(number == 4 ? 1 : 2, after: away) {
          let count = all.withLock {
            $0.append(number)
            return $0.count
          }
          if count == 3 { done.resume(returning: all.withLock { $0 }) }
        }
      }
    }
    #expect(written == [2, 3, 4])
    #expect(unwritten.dropped == 8)
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
