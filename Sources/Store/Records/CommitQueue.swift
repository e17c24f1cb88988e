import Dispatch
import Synchronization

/// Changes to be committed by one thread; changes that wait at the same time share a commit.
final class CommitQueue<Change: Sendable>: Sendable {
  private let state = Mutex(State())
  private let thread = DispatchQueue(label: "store.writer")
  /// The longest wait for an expected batch.
  private let batchTimeout: DispatchTimeInterval

  private struct State {
    var waiting: [Change] = []
    /// How many are being committed.
    var committing = 0
    /// Whether the thread is about to commit what waits: at once, or after the timeout.
    var isScheduled = false
    /// When the thread will look for what waits.
    var timer: DispatchTime?
  }

  init(batchTimeout: DispatchTimeInterval) { self.batchTimeout = batchTimeout }

  /// Adds a change, which `commit` is given on the thread, in order and with others that wait.
  ///
  /// `expectedBatch` is the number of changes, with this one, that are about to be added together: if more
  /// than 1, waits for them, at most for `timeout` (by default that of the queue).
  func add(
    _ change: Change, expectedBatch: Int = 1, timeout: DispatchTimeInterval? = nil,
    commit: @escaping @Sendable ([Change]) -> Void
  ) {
    let (mustSchedule, timer) = state.withLock { state -> (Bool, DispatchTime?) in
      state.waiting.append(change)
      let isComplete =
        state.waiting.count >= min(expectedBatch - state.committing, CommitLimits.batch)
      if state.isScheduled { return (false, nil) }
      if isComplete {
        state.isScheduled = true
        return (true, nil)
      }
      let deadline = DispatchTime.now() + (timeout ?? batchTimeout)
      if let earlier = state.timer, earlier <= deadline { return (false, nil) }
      state.timer = deadline
      return (false, deadline)
    }
    if mustSchedule { thread.async { self.commitWaiting(commit) } }
    if let timer { thread.asyncAfter(deadline: timer) { self.commitWaiting(commit) } }
  }

  /// Enters the group until the thread has done what it does now.
  func turn(_ group: DispatchGroup) { thread.async(group: group) {} }

  private func commitWaiting(_ commit: @escaping @Sendable ([Change]) -> Void) {
    let (changes, hasMore) = state.withLock { state in
      let changes = Array(state.waiting.prefix(CommitLimits.changes))
      state.waiting.removeFirst(changes.count)
      state.isScheduled = !state.waiting.isEmpty
      state.timer = nil
      state.committing = changes.count
      return (changes, state.isScheduled)
    }
    // Empty if the timer fires for a batch that was committed because it became complete.
    if !changes.isEmpty { commit(changes) }
    state.withLock { $0.committing = 0 }
    if hasMore { thread.async { self.commitWaiting(commit) } }
  }
}

/// How many changes share a commit.
private enum CommitLimits {
  /// The most in one commit, which bounds how long the first of them waits.
  static let changes = 512
  /// A larger expected batch is not waited for: one fsync for 128 changes is cheap enough.
  static let batch = 128
}

/// A change that waits for its commit.
struct QueuedChange<Transaction>: Sendable {
  /// Makes the change; the result resumes its caller once it is committed.
  let perform: @Sendable (Transaction) throws -> (@Sendable () -> Void)
  let fail: @Sendable (any Error) -> Void
  /// How many notifications it inserts.
  var newNotifications = 0
}

extension CommitQueue {
  /// Adds a change, and returns the result of `body` once `commit` has committed it.
  func write<Transaction, R: Sendable>(
    expectedBatch: Int, newNotifications: Int = 0,
    commit: @escaping @Sendable ([Change]) -> Void,
    _ body: @escaping @Sendable (Transaction) throws -> R
  ) async throws -> R where Change == QueuedChange<Transaction> {
    // The thread that commits belongs to no task.
    let actor = AuditActor.current
    return try await withCheckedThrowingContinuation { continuation in
      let change = QueuedChange<Transaction>(
        perform: { transaction in
          let result = try AuditActor.$current.withValue(actor) { try body(transaction) }
          return { continuation.resume(returning: result) }
        }, fail: { continuation.resume(throwing: $0) }, newNotifications: newNotifications)
      add(change, expectedBatch: expectedBatch, commit: commit)
    }
  }

  /// Adds a change for whose commit nobody waits; it comes with the next one, or after `timeout`, at once if that is
  /// nil.
  func writeSoon<Transaction>(
    within timeout: DispatchTimeInterval?, commit: @escaping @Sendable ([Change]) -> Void,
    _ body: @escaping @Sendable (Transaction) throws -> Void,
    onFailure: @escaping @Sendable (any Error) -> Void
  ) where Change == QueuedChange<Transaction> {
    let actor = AuditActor.current
    let change = QueuedChange<Transaction>(
      perform: { transaction in
        try AuditActor.$current.withValue(actor) { try body(transaction) }
        return {}
      }, fail: onFailure)
    add(
      change, expectedBatch: timeout == nil ? 1 : .max, timeout: timeout, commit: commit)
  }
}
