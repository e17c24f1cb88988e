import Synchronization

/// What became of wishes for renditions, since the server began.
final class RenditionCounts: Sendable {
  enum Outcome: String, CaseIterable {
    /// It was stored.
    case hit
    /// Its plugin made it.
    case made
    /// It waited for one that was being made already.
    case coalesced
    /// It had to go, because the disk space was for others.
    case evicted
  }

  private let hits = Atomic(0)
  private let others = Mutex<[Outcome: Int]>([:])

  /// Counts some more.
  func count(_ outcome: Outcome, _ number: Int = 1) {
    if outcome == .hit {
      hits.add(number, ordering: .relaxed)
    } else {
      others.withLock { $0[outcome, default: 0] += number }
    }
  }

  /// How many there were.
  subscript(_ outcome: Outcome) -> Int {
    outcome == .hit
      ? hits.load(ordering: .relaxed) : others.withLock { $0[outcome, default: 0] }
  }
}
