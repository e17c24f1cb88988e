import FoundationEssentials
import Testing
import Waiting

@testable import Store

/// What only one of several nodes does; `PostgresSystemTests` runs these tests.
@Suite(.enabled(if: Scratch.server != nil, "only with PostgreSQL"), .timeLimit(.minutes(1)))
struct PostgresLeadTests {
  private let scratch = Scratch()

  /// A session of the test's own.
  private func session() throws -> PostgresConnection {
    try PostgresConnection(try #require(try scratch.database()), for: .maintenance)
  }

  @Test func `a node whose connection ended has no lead until it gets it again`() async throws {
    let store = try scratch.open()
    let lead = store.observers.lead
    try await eventually("the lead is held") { lead.isHeld }
    // Waits for the lock, and gets it before anybody who asks later.
    let session = try session()
    let key = "hashtextextended('richpush lead \(scratch.schema)', 0)"
    async let waits: Void = BlockingQueue("lock").run {
      try session.script("SELECT pg_advisory_lock(\(key))")
    }
    let other = try self.session()
    func value(_ sql: String) throws -> Bool { try other.value(sql, as: Bool.self) == true }
    let waiter = "locktype = 'advisory' AND NOT granted"
    try await eventually("the other waits") {
      try value("SELECT EXISTS (SELECT 1 FROM pg_locks WHERE \(waiter))")
    }
    _ = try other.value(
      """
      SELECT bool_and(pg_terminate_backend(pid)) FROM pg_locks
      WHERE locktype = 'advisory' AND granted AND objsubid = 1
        AND (classid::bigint << 32) | objid::bigint = \(key)
      """, as: Bool.self)
    try await waits
    try await eventually("the lead is lost") { !lead.isHeld }
    try session.script("SELECT pg_advisory_unlock(\(key))")
    try await eventually("the lead is held") { lead.isHeld }
  }

  @Test func `while one node cleans up, another finds nothing to do`() async throws {
    let store = try scratch.open()
    var new = NotificationInsert.any(to: alice)
    new.expires = scratch.now + 60
    _ = try await store.notifications.create(new)
    scratch.pass(60 + Retention().historyAge)
    let other = try session()
    try other.script(
      """
      BEGIN; SELECT pg_advisory_xact_lock(
        hashtextextended('richpush upkeep ' || current_schema(), 0))
      """)
    #expect(try await store.collect(Retention()).notifications == 0)
    #expect(try await store.count("notification") == 1)
    try other.script("COMMIT")
    #expect(try await store.collect(Retention()).notifications == 1)
    #expect(try await store.count("notification") == 0)
  }
}
