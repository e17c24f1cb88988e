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

  /// When a commit is needed.
  enum Urgency {
    /// It may wait for other fetches.
    case soon
    /// It has as many fetches as it may.
    case now
  }

  private let queue = Mutex(Queue())
  /// The most in one commit, so that other changes need not wait for long.
  private static let limit = 2000

  /// Adds a fetch; if the result is not nil, the caller must ask for a commit that takes it.
  func add(_ fetch: Fetch) -> Urgency? {
    queue.withLock { queue in
      queue.fetches.append(fetch)
      if queue.fetches.count - queue.taken == Self.limit { return .now }
      if queue.isScheduled { return nil }
      queue.isScheduled = true
      return .soon
    }
  }

  /// Takes the oldest for one commit; calls `askForCommit` if others are left.
  func take(for batch: Batch, askForCommit: (Urgency) -> Void) -> [Fetch] {
    let (fetches, left) = batch.taken.withLock { taken -> ([Fetch], Int) in
      if let taken { return (taken, 0) }
      return queue.withLock { queue in
        let fetches = Array(queue.fetches[queue.taken...].prefix(Self.limit))
        queue.taken += fetches.count
        let left = queue.fetches.count - queue.taken
        if left == 0 { queue = Queue() }
        taken = fetches
        return (fetches, left)
      }
    }
    if left > 0 { askForCommit(left < Self.limit ? .soon : .now) }
    return fetches
  }
}
