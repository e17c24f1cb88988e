import Synchronization

/// Rendition requests by outcome, since the server started.
package final class RenditionCounts: Sendable {
  /// How a request ended.
  package enum Outcome: String, CaseIterable, Sendable {
    /// The rendition was stored.
    case hit
    /// It was rendered.
    case made
    /// It waited for a render that was in progress.
    case coalesced
    /// Not a request: a stored rendition was removed to free disk space.
    case evicted
  }

  private let hits = Atomic(0)
  private let others = Mutex<[Outcome: Int]>([:])

  /// Creates counts of zero.
  package init() {}

  /// Adds to a count.
  package func count(_ outcome: Outcome, _ number: Int = 1) {
    if outcome == .hit {
      hits.add(number, ordering: .relaxed)
    } else {
      others.withLock { $0[outcome, default: 0] += number }
    }
  }

  /// The count of an outcome.
  package subscript(_ outcome: Outcome) -> Int {
    outcome == .hit
      ? hits.load(ordering: .relaxed) : others.withLock { $0[outcome, default: 0] }
  }
}

/// Counts work that a person or device is waiting for, so that background work can yield to it.
package final class ForegroundLoad: Sendable {
  private let count = Mutex(0)
  /// The longest time that background work yields before each step, so that it always makes progress.
  private static let longestYield = Duration.seconds(1)
  private static let pollInterval = Duration.milliseconds(20)

  /// Creates a count of zero.
  package init() {}

  /// Runs work that a person or device is waiting for.
  package func track<R, E>(_ body: () async throws(E) -> R) async throws(E) -> R {
    count.withLock { $0 += 1 }
    defer { count.withLock { $0 -= 1 } }
    return try await body()
  }

  /// Returns when no tracked work is running, or after a second.
  package func waitUntilIdle() async {
    let deadline = ContinuousClock.now + Self.longestYield
    // Polled rather than signalled at zero, since the count is briefly zero between two requests.
    while count.withLock({ $0 > 0 }), ContinuousClock.now < deadline, !Task.isCancelled {
      try? await Task.sleep(for: Self.pollInterval)
    }
  }
}
