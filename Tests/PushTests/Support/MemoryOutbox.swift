import Foundation
import Synchronization

@testable import Push

/// An outbox in memory that keeps the contract a store has to keep.
final class MemoryOutbox: PushQueue {
  struct Failure: Error {}

  private struct Entry {
    let push: OutgoingPush
    var attempts = 0
    var due: Date
    var lease: Date?
    var outcome: Settlement.Outcome?
  }

  private struct State {
    var entries: [Entry] = []
    var silentPushes: [OutgoingPush.Target: [Date]] = [:]
    var history: [Settlement] = []
    var commits = 0
    var lastCommit: Date?
    var failures = 0
    var pause: PushPause?
    var watchers: [Int: (count: Int, continuation: CheckedContinuation<Void, Never>)] = [:]
    var lastWatcher = 0
  }

  private let state = Mutex(State())
  private let now: @Sendable () -> Date

  init(now: @escaping @Sendable () -> Date = { Date() }) { self.now = now }

  @discardableResult func add(_ push: OutgoingPush) -> Int {
    state.withLock {
      $0.entries.append(Entry(push: push, due: now()))
      return $0.entries.count - 1
    }
  }

  /// Makes the next settlements fail.
  func failSettlements(_ count: Int) { state.withLock { $0.failures = count } }

  /// Every settlement so far, in the order of their commits.
  var history: [Settlement] { state.withLock { $0.history } }

  var commits: Int { state.withLock { $0.commits } }

  /// When settlements were committed last.
  var lastCommit: Date? { state.withLock { $0.lastCommit } }

  /// The last word on each job.
  var outcomes: [Settlement.Outcome?] { state.withLock { $0.entries.map(\.outcome) } }

  /// Suspends until so many settlements were committed; throws when the task is cancelled.
  func settled(_ count: Int) async throws {
    let id = state.withLock { state in
      state.lastWatcher += 1
      return state.lastWatcher
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isDone = state.withLock { state in
          if state.history.count >= count || Task.isCancelled { return true }
          state.watchers[id] = (count, continuation)
          return false
        }
        if isDone { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.watchers.removeValue(forKey: id) }?.continuation.resume()
    }
    try Task.checkCancellation()
  }

  /// Suspends until so many jobs are delivered, some of them perhaps at a second attempt.
  func delivered(_ count: Int) async throws {
    while true {
      // Before the outcomes: one that comes between would not be waited for.
      let known = history.count
      let delivered = outcomes.count { if case .delivered = $0 { true } else { false } }
      if delivered >= count { return }
      try await settled(known + 1)
    }
  }

  func settleAndLease(
    _ settlements: [Settlement], lane: PushLane, limit: Int, now: Date, until: Date
  ) async throws -> PushLease {
    if !settlements.isEmpty { try settle(settlements) }
    let (pause, isProbe) = state.withLock { state in
      guard let pause = state.pause else { return (nil as PushPause?, false) }
      guard pause.until <= now, limit > 0 else { return (pause, false) }
      state.pause = PushPause(since: pause.since, until: now + 60, reason: pause.reason)
      return (state.pause, true)
    }
    let jobs =
      pause != nil && !isProbe ? [] : lease(limit: isProbe ? 1 : limit, now: now, until: until)
    return PushLease(jobs: jobs, pause: pause)
  }

  func begin(_ lane: PushLane) {}

  private func lease(limit: Int, now: Date, until: Date) -> [PushJob] {
    state.withLock { state in
      var jobs: [PushJob] = []
      var blocked: Set<String> = []
      for index in state.entries.indices where jobs.count < limit {
        let entry = state.entries[index]
        guard entry.outcome == nil else { continue }
        let key = entry.push.collapseID.map { "\($0) \(entry.push.target)" }
        if let key, !blocked.insert(key).inserted { continue }
        guard entry.due <= now, entry.lease.map({ $0 <= now }) ?? true else { continue }
        state.entries[index].lease = until
        jobs.append(
          PushJob(
            id: index, push: entry.push, attempts: entry.attempts,
            recentSilentPushes: state.silentPushes[entry.push.target] ?? []))
      }
      return jobs
    }
  }

  private func settle(_ settlements: [Settlement]) throws {
    let woken = try state.withLock { state in
      if state.failures > 0 {
        state.failures -= 1
        throw Failure()
      }
      for settlement in settlements { settle(settlement, in: &state) }
      state.history += settlements
      state.commits += 1
      state.lastCommit = now()
      let woken = state.watchers.filter { $0.value.count <= state.history.count }
      for id in woken.keys { state.watchers[id] = nil }
      return woken.values
    }
    for watcher in woken { watcher.continuation.resume() }
  }

  func nextDue(lane: String) async throws -> Date? {
    state.withLock { state in
      state.entries.filter { $0.outcome == nil }.map { max($0.due, $0.lease ?? $0.due) }.min()
    }
  }

  private func settle(_ settlement: Settlement, in state: inout State) {
    state.entries[settlement.job].lease = nil
    switch settlement.outcome {
    case .retry(let at, _):
      state.entries[settlement.job].attempts += 1
      state.entries[settlement.job].due = at
    case .released(let until, _): state.entries[settlement.job].due = until
    case .stopped(let reason):
      let now = self.now()
      state.pause = state.pause ?? PushPause(since: now, until: now + 60, reason: reason)
    case .refused: state.entries[settlement.job].due = .distantFuture
    case .delivered(let kind, _, _):
      state.pause = nil
      state.entries[settlement.job].outcome = settlement.outcome
      let target = state.entries[settlement.job].push.target
      if kind == .background { state.silentPushes[target, default: []].append(now()) }
    case .deadToken, .rejected, .expired:
      state.entries[settlement.job].outcome = settlement.outcome
    }
  }
}
