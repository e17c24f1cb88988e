import FoundationEssentials
import Synchronization

/// Fetches that no commit has written yet, so that a burst of them shares a few commits.
final class PendingFetches: Sendable {
  struct Fetch: Sendable {
    let id: Int
    let user: UserID
    let device: String?
    let time: Date
  }

  /// Fetches that one commit takes; the same ones if it is repeated.
  final class Batch: Sendable {
    fileprivate let taken = Mutex<[Fetch]?>(nil)
  }

  private struct Queue {
    var fetches: [Fetch] = []
    var taken = 0
    /// Whether a commit that takes them was asked for.
    var isScheduled = false
  }

  private let queue = Mutex(Queue())
  /// The most in one commit, so that other changes need not wait for long.
  private static let limit = 1000

  /// Adds a fetch; true if the caller must ask for a commit that takes it.
  func add(_ fetch: Fetch) -> Bool {
    queue.withLock { queue in
      queue.fetches.append(fetch)
      defer { queue.isScheduled = true }
      return !queue.isScheduled
    }
  }

  /// Takes the oldest for one commit; calls `askForCommit` if others are left.
  func take(for batch: Batch, askForCommit: () -> Void) -> [Fetch] {
    let (fetches, hasMore) = batch.taken.withLock { taken -> ([Fetch], Bool) in
      if let taken { return (taken, false) }
      return queue.withLock { queue in
        let fetches = Array(queue.fetches[queue.taken...].prefix(Self.limit))
        queue.taken += fetches.count
        if queue.taken == queue.fetches.count { queue = Queue() }
        taken = fetches
        return (fetches, queue.isScheduled)
      }
    }
    if hasMore { askForCommit() }
    return fetches
  }
}
