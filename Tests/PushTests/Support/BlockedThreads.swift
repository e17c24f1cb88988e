import Dispatch
import Synchronization

/// Threads that wait until they are told to go on, all at once.
final class BlockedThreads: Sendable {
  private let gate = DispatchGroup()
  private let hasEnded = Atomic(false)

  init() { gate.enter() }

  /// Blocks the calling thread until ``end()``.
  func wait() { gate.wait() }

  /// Lets all go on, now and later.
  func end() {
    if !hasEnded.exchange(true, ordering: .acquiringAndReleasing) { gate.leave() }
  }
}
