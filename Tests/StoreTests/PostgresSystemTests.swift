import Foundation
import StandIns
import Testing
import Waiting

@testable import Store

/// The store on a PostgreSQL server that goes away; `Tests/run.py` runs all other tests of the store on one that stays.
@Suite(
  .enabled(if: PostgresServer.isInstalled, "needs the package postgresql-15"), .serialized,
  .timeLimit(.minutes(30)))
struct PostgresSystemTests {
  @Test func `a server that is away, or hangs, fails requests soon, and all heals by itself`()
    async throws
  {
    let (server, scratch) = (try PostgresServer(), Scratch())
    let store = try Store(folder: scratch.folder, database: server.url)
    try await store.accounts.addUser("alice", hash: "h", role: .device)
    for round in 0..<2 {
      if round == 0 { try server.stop() } else { try server.signal(SIGSTOP) }
      let start = ContinuousClock.now
      await #expect { try await store.accounts.users() } throws: { error in
        (error as? StoreError)?.code == .unavailable
      }
      await #expect { try await store.probe() } throws: { error in
        (error as? StoreError)?.code == .unavailable
      }
      #expect(ContinuousClock.now - start < .seconds(18))
      if round == 0 { try server.start() } else { try server.signal(SIGCONT) }
      try await eventually("changes are taken") { (try? await store.probe()) != nil }
      try await eventually("reads are answered") { (try? await store.accounts.users().count) == 1 }
    }
  }

  @Test func `receipts that could not be written are written when the database is back`()
    async throws
  {
    let (server, scratch) = (try PostgresServer(), Scratch())
    let store = try Store(folder: scratch.folder, database: server.url, now: { scratch.now })
    try await store.accounts.addUser("alice", hash: "h", role: .device)
    for _ in 0..<2 { _ = try await store.notifications.create(.any(to: alice)) }
    let time = scratch.now
    try server.crash()
    store.notifications.recordFetched(0, user: alice)
    store.notifications.recordSent([0], user: alice)
    // The writer has tried.
    await #expect(throws: StoreError.self) { try await store.probe() }
    store.notifications.recordFetched(1, user: alice)
    scratch.pass(60)
    try server.start()
    for id in 0..<2 {
      try await eventually("the fetch of \(id) is written") {
        (try? await store.notifications.receipts(of: id).first?.fetched) == time
      }
    }
    try await eventually("the sending is written") {
      try await store.notifications.receipts(of: 0).first?.sent == time
    }
    #expect(store.droppedReceipts == 0)
  }
}
