import CSQLite
import FoundationEssentials
import Synchronization
import Testing

@testable import Store

/// What the server does after every commit, and for every fetch, does not grow with what is stored.
///
/// SQLite counts the rows that it has gone through without an index (SQLITE_STMTSTATUS_FULLSCAN_STEP).
@Suite(.serialized, .enabled(if: Scratch.server == nil), .timeLimit(.minutes(2)))
struct CommitCostTests {
  private static let scanned = Atomic<Int>(0)

  private let scratch = Scratch()

  /// Has the statements of all connections that are opened from now on counted.
  private func countScans() {
    typealias Opened =
      @convention(c) (OpaquePointer?, UnsafeMutablePointer<UnsafePointer<CChar>?>?, OpaquePointer?)
      -> Int32
    let opened: Opened = { connection, _, _ in
      sqlite3_trace_v2(
        connection, UInt32(SQLITE_TRACE_PROFILE),
        { _, _, statement, _ in
          let steps = sqlite3_stmt_status(
            statement.map(OpaquePointer.init), SQLITE_STMTSTATUS_FULLSCAN_STEP, 1)
          CommitCostTests.scanned.add(Int(steps), ordering: .relaxed)
          return 0
        }, nil)
    }
    _ = sqlite3_auto_extension(unsafeBitCast(opened, to: (@convention(c) () -> Void).self))
  }

  /// The rows that some work goes through without an index.
  private func scans(_ work: () async throws -> Void) async throws -> Int {
    let before = Self.scanned.load(ordering: .relaxed)
    try await work()
    return Self.scanned.load(ordering: .relaxed) - before
  }

  @Test func `no table of notifications, recipients, receipts or jobs is gone through`()
    async throws
  {
    countScans()
    defer { sqlite3_reset_auto_extension() }
    let store = try scratch.open()
    let phone = try await store.accounts.registration(forHandle: "AA", user: alice)
    for _ in 0..<300 {
      var new = NotificationInsert.any(to: alice)
      new.pushes = [
        PushInsert(lane: "apns", target: .devices(RegistrationIDs([phone])), kind: "alert")
      ]
      _ = try await store.notifications.create(new)
    }
    #expect(
      try await scans { _ = try await store.count("notification WHERE payload <> 'x'") } >= 299,
      "the scans are counted")
    let work: [(String, () async throws -> Void)] = [
      ("due audiences", { _ = try await store.notifications.dueAudiences(limit: 10) }),
      ("parts", { _ = try await store.notifications.writeNextParts(within: .milliseconds(8)) }),
      ("held events", { _ = try await store.events.releaseHeldEvents() }),
      ("events", { _ = try await store.events.events(after: 0, for: nil, limit: 10) }),
      (
        "jobs",
        {
          _ = try await store.outbox.lease(lane: "apns", limit: 10, until: scratch.now + 60)
        }
      ),
      (
        "a fetch",
        {
          _ = try await store.notifications.isFetchRecorded(7, user: alice, device: phone)
        }
      ),
    ]
    for (name, work) in work { #expect(try await scans(work) < 100, "\(name)") }
  }
}
