import FoundationEssentials
import Synchronization

/// Who fetched what and when, until a commit takes it: a million phones in a second share a few.
final class FetchNotes: Sendable {
  struct Note: Sendable {
    let id: Int
    let user: UserID
    let device: String?
    let moment: Date
  }

  private struct Queue {
    var notes: [Note] = []
    var taken = 0
    /// Whether a commit that takes them is on its way.
    var isAwaited = false
  }

  private let queue = Mutex(Queue())
  /// As many go into one commit, so that other changes need not wait for long.
  private static let limit = 1000

  /// Adds a note; true when somebody must ask for a commit that takes it.
  func add(_ note: Note) -> Bool {
    queue.withLock { queue in
      queue.notes.append(note)
      defer { queue.isAwaited = true }
      return !queue.isAwaited
    }
  }

  /// Takes the oldest notes for one commit, and says whether another one must be asked for.
  func take() -> (notes: [Note], hasMore: Bool) {
    queue.withLock { queue in
      let notes = Array(queue.notes[queue.taken...].prefix(Self.limit))
      queue.taken += notes.count
      if queue.taken == queue.notes.count { queue = Queue() }
      return (notes, queue.isAwaited)
    }
  }
}
