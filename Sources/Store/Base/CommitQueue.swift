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
    var isTimerSet = false
  }

  init(batchTimeout: DispatchTimeInterval) { self.batchTimeout = batchTimeout }

  /// Adds a change, which `commit` is given on the thread, in order and with others that wait.
  ///
  /// `expectedBatch` is the number of changes, with this one, that are about to be added together: if more
  /// than 1, waits a moment for them.
  func add(
    _ change: Change, expectedBatch: Int = 1, commit: @escaping @Sendable ([Change]) -> Void
  ) {
    let (mustSchedule, mustSetTimer) = state.withLock { state in
      state.waiting.append(change)
      let isComplete =
        state.waiting.count >= min(expectedBatch - state.committing, CommitLimits.batch)
      let mustSchedule = !state.isScheduled && isComplete
      let mustSetTimer = !state.isScheduled && !state.isTimerSet && !mustSchedule
      if mustSchedule { state.isScheduled = true }
      if mustSetTimer { state.isTimerSet = true }
      return (mustSchedule, mustSetTimer)
    }
    if mustSchedule { thread.async { self.commitWaiting(commit) } }
    if mustSetTimer {
      thread.asyncAfter(deadline: .now() + batchTimeout) { self.commitWaiting(commit) }
    }
  }

  /// Enters the group until the thread has done what it does now.
  func turn(_ group: DispatchGroup) { thread.async(group: group) {} }

  private func commitWaiting(_ commit: @escaping @Sendable ([Change]) -> Void) {
    let (changes, hasMore) = state.withLock { state in
      let changes = Array(state.waiting.prefix(CommitLimits.changes))
      state.waiting.removeFirst(changes.count)
      state.isScheduled = !state.waiting.isEmpty
      state.isTimerSet = false
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
