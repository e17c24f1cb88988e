import FoundationEssentials
import Synchronization
import Testing
import Waiting

@testable import Store

/// A role of the PostgreSQL server that may connect to the database and has no right on a table.
@Suite(
  .enabled(if: Scratch.server != nil, "only with PostgreSQL"), .serialized, .timeLimit(.minutes(2)))
struct OtherRoleTests {
  private let first = Scratch()
  private let second = Scratch()

  /// The URL of the database for the role, which is made for the test.
  private func urlOfOther() throws -> String {
    let url = try #require(try first.database())
    let administrator = try PostgresConnection(url, for: .writing)
    try administrator.script(
      """
      DO $$ BEGIN
        IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'mallory') THEN
          CREATE ROLE mallory LOGIN;
        END IF;
      END $$
      """)
    let scheme = try #require(url.firstRange(of: "://")), at = try #require(url.firstIndex(of: "@"))
    return url[..<scheme.upperBound] + "mallory" + url[at...]
  }

  private func connectAsOther() throws -> PostgresConnection {
    try PostgresConnection(urlOfOther(), for: .writing)
  }

  private func open(_ scratch: Scratch) throws -> Store {
    try Store(
      folder: scratch.folder, database: try first.database(), now: { [first] in first.now })
  }

  @Test func `a message makes no lane without a job`() async throws {
    let other = try connectAsOther()
    let (store, listening) = (try open(first), try open(second))
    let lanes = Lanes()
    listening.observers.onJobs.add { names in lanes.names.withLock { $0.formUnion(names) } }
    var new = NotificationInsert.any(to: alice)
    new.pushes = [PushInsert(lane: "fcm", target: .audience("a"), kind: "alert")]
    var count = 0
    try await eventually("the lane is told") {
      count += 1
      try other.script(
        """
        SELECT pg_notify('richpush_\(first.schema)',
          E'mallory\\nlane webpush:https://f\(count).example\\nlane fcm\\nlane apns')
        """)
      _ = try await store.notifications.create(new)
      return lanes.names.withLock { $0.contains("fcm") }
    }
    #expect(lanes.names.withLock { $0 } == ["fcm"])
  }

  @Test func `a lead whose lock another role has is nobody's, and not so one of a node`()
    async throws
  {
    let other = try connectAsOther()
    _ = try open(first)  // makes the tables
    try other.script(
      "SELECT pg_advisory_lock(hashtextextended('richpush lead \(first.schema)', 0))")
    let store = try open(second)
    let lead = store.observers.lead
    try await eventually("it is vacant") { lead.vacantSince != nil }
    #expect(!lead.isHeld)
    try other.script("SELECT pg_advisory_unlock_all()")
    try await eventually("it is taken") { lead.vacantSince == nil }
    #expect(lead.isHeld)
    let next = try open(Scratch())
    // It has tried once it hears.
    let heard = Lanes()
    next.observers.onHearing.add { _ in heard.names.withLock { _ = $0.insert("it") } }
    try await eventually("it hears") { !heard.names.withLock(\.isEmpty) }
    #expect(!next.observers.lead.isHeld && next.observers.lead.vacantSince == nil)
  }

  @Test func `tells who else may connect`() async throws {
    _ = try connectAsOther()
    let store = try open(first)
    let url = try #require(try first.database())
    let administrator = try PostgresConnection(url, for: .writing)
    let name = try #require(try await store.databaseAccess()).database
    defer {
      try? administrator.script(
        "GRANT CONNECT ON DATABASE \(name) TO PUBLIC; REVOKE CONNECT ON DATABASE \(name) FROM mallory"
      )
    }
    #expect(try await store.databaseAccess()?.isPublic == true)
    try administrator.script("REVOKE CONNECT ON DATABASE \(name) FROM PUBLIC")
    #expect(
      try await store.databaseAccess() == DatabaseAccess(database: name, isPublic: false, roles: [])
    )
    #expect(throws: (any Error).self) { try connectAsOther() }
    try administrator.script("GRANT CONNECT ON DATABASE \(name) TO mallory")
    #expect(try await store.databaseAccess()?.roles == ["mallory"])
  }

  @Test func `a check says what the role of a server has no right to`() async throws {
    let url = try urlOfOther()
    func problem() -> String {
      do { try Store.checkDatabase(at: url) } catch { return "\(error)" }
      return ""
    }
    let administrator = try PostgresConnection(try #require(try first.database()), for: .writing)
    #expect(problem().contains("there is no schema for its tables"), "\(problem())")
    try administrator.script("GRANT USAGE ON SCHEMA \(first.schema) TO mallory")
    #expect(problem().contains("may not create tables in the schema"), "\(problem())")
    try administrator.script("GRANT CREATE ON SCHEMA \(first.schema) TO mallory")
    #expect(problem().isEmpty, "\(problem())")
    _ = try open(first)
    try administrator.script("GRANT SELECT ON schema_version TO mallory")
    #expect(problem().contains("may not change the table schema_version"), "\(problem())")
    #expect(throws: Never.self) { try Store.checkDatabase(at: try #require(try first.database())) }
  }

  private final class Lanes: Sendable {
    let names = Mutex<Set<String>>([])
  }
}
