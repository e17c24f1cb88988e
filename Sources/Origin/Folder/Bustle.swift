import Synchronization

/// Counts the work that somebody waits for, so that work in the background can step aside.
final class Bustle: Sendable {
  private let count = Mutex(0)
  /// The most that background work waits before each step: it goes on slowly under any load.
  private static let patience = Duration.seconds(1)

  /// Does work that somebody waits for.
  func during<R, E>(_ body: () async throws(E) -> R) async throws(E) -> R {
    count.withLock { $0 += 1 }
    defer { count.withLock { $0 -= 1 } }
    return try await body()
  }

  /// Returns when nobody waits for anything, or patience ends.
  func calm() async {
    let deadline = ContinuousClock.now + Self.patience
    // Looked at now and then, not told at the first zero: nothing is begun between two of a crowd.
    while count.withLock({ $0 > 0 }), ContinuousClock.now < deadline, !Task.isCancelled {
      try? await Task.sleep(for: .milliseconds(20))
    }
  }
}
