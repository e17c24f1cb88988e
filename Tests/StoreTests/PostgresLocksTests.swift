import FoundationEssentials
import Synchronization
import Testing
import Waiting

@testable import Store

/// Locks that nodes share, by which one of them renders what several need; `PostgresSystemTests` runs these tests.
@Suite(.enabled(if: Scratch.server != nil, "only with PostgreSQL"), .timeLimit(.minutes(1)))
struct PostgresLocksTests {
  private let scratch = Scratch()

  private final class Rendered: Sendable {
    private let ended = Mutex(false)
    var hasEnded: Bool { ended.withLock { $0 } }
    func end() { ended.withLock { $0 = true } }
  }

  private func url() throws -> String { try #require(try scratch.database()) }

  @Test func `a lock is one node's until it is released, and ends with the node's connection`()
    async throws
  {
    let (one, other) = (PostgresLocks(url: try url()), PostgresLocks(url: try url()))
    #expect(try await one.take("a"))
    #expect(try await one.take("a"), "it has it")
    #expect(try await !other.take("a"))
    one.release("a")
    try await eventually("the other gets the lock") { try await other.take("a") }
    #expect(try await !one.take("a"))
    other.release("a")
    try await eventually("the first gets the lock") { try await one.take("a") }
    let session = try PostgresConnection(try url(), for: .maintenance)
    _ = try session.value(
      """
      SELECT bool_and(pg_terminate_backend(pid)) FROM pg_locks
      WHERE locktype = 'advisory' AND granted AND objsubid = 1
        AND (classid::bigint << 32) | objid::bigint = hashtextextended('\(scratch.schema)a', 0)
      """, as: Bool.self)
    // The node notices it with its next lock.
    await #expect(throws: StoreError.self) { _ = try await one.take("b") }
    try await eventually("the other gets the lock") { try await other.take("a") }
    #expect(try await !one.take("a"), "it has lost it")
  }

  @Test func `a node has at most 256 locks`() async throws {
    let locks = PostgresLocks(url: try url())
    for number in 0..<256 { #expect(try await locks.take("\(number)")) }
    let error = await #expect(throws: StoreError.self) { _ = try await locks.take("more") }
    #expect(error?.code == .busy)
    #expect(try await locks.take("7"), "it has it")
    locks.release("7")
    #expect(try await locks.take("more"))
  }

  @Test func `what one node renders another waits for`() async throws {
    let clock = ManualClock()
    let turns = try (0..<2).map { _ in
      RenderTurns(locks: PostgresLocks(url: try url()), clock: clock)
    }
    let key = Digest(of: "a")
    let rendered = Rendered()
    await turns[0].begin(key)
    async let waited = {
      await turns[1].begin(key)
      return rendered.hasEnded
    }()
    // Another key waits for nobody.
    for number in 0..<20 { await turns[0].begin(Digest(of: "\(number)")) }
    for pause in [20, 40, 80] {
      try await eventually("the other waits") { clock.untilNext == .milliseconds(pause) }
      clock.advance(by: .milliseconds(pause))
    }
    try await eventually("it goes on waiting") { clock.untilNext == .milliseconds(160) }
    rendered.end()
    turns[0].end(key)
    await turns[0].begin(Digest(of: "next"))  // it has ended then
    clock.advance(by: .milliseconds(160))
    #expect(await waited)
  }
}
