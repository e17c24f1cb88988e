import FoundationEssentials
import Synchronization
import Testing
import Waiting

@testable import Store

/// What a node hears of others with the same PostgreSQL database.
@Suite(.enabled(if: Scratch.server != nil, "only with PostgreSQL"), .timeLimit(.minutes(1)))
struct PostgresListenerTests {
  private struct Calls {
    var jobs = 0
    var othersCommits = 0
    var commits = 0
  }

  private let first = Scratch()
  private let second = Scratch()

  @Test func `the work after commits is left to the node that has committed, for a moment`()
    async throws
  {
    let store = try first.open()
    let other = try Store(
      folder: second.folder, database: try first.database(), now: { [first] in first.now })
    let (calls, called) = AsyncStream.makeStream(of: Void.self)
    let counts = Counts()
    other.observers.onJobs.add { _ in
      counts.value.withLock { $0.jobs += 1 }
      called.yield()
    }
    other.observers.onOthersCommit.add { counts.value.withLock { $0.othersCommits += 1 } }
    other.observers.onCommit.add { counts.value.withLock { $0.commits += 1 } }
    var new = NotificationInsert.any(to: alice)
    new.pushes = [PushInsert(lane: "fcm", target: .audience("a"), kind: "alert")]
    // Listens once it has heard something.
    try await eventually("it listens") {
      _ = try await store.notifications.create(new)
      return counts.value.withLock { $0.othersCommits } > 0
    }
    let before = counts.value.withLock { $0 }
    let start = ContinuousClock.now
    for _ in 0..<100 { _ = try await store.notifications.create(new) }
    try await eventually("all commits are heard") {
      counts.value.withLock { $0.othersCommits } >= before.othersCommits + 100
    }
    // Whatever was reported by now, this one is reported later.
    let heard = counts.value.withLock { $0.jobs }
    _ = try await store.notifications.create(new)
    for await _ in calls where counts.value.withLock({ $0.jobs }) > heard { break }
    let most = Int((ContinuousClock.now - start) / .milliseconds(250)) + 1
    let after = counts.value.withLock { $0 }
    #expect(after.jobs - before.jobs <= most && after.commits - before.commits <= most)
  }

  private final class Counts: Sendable {
    let value = Mutex(Calls())
  }
}
