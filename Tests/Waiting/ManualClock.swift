import Primitives
import Synchronization

/// A clock on which time passes only when a test says so.
package final class ManualClock: SteadyClock {
  package typealias Duration = Swift.Duration

  private struct Sleeper {
    let end: ContinuousClock.Instant
    let continuation: CheckedContinuation<Void, any Error>
  }

  private struct State {
    var now = ContinuousClock.now
    var sleepers: [Int: Sleeper] = [:]
    var lastID = 0
    /// Those that were cancelled before they slept.
    var cancelled: Set<Int> = []
  }

  private let state = Mutex(State())

  package init() {}

  package var now: ContinuousClock.Instant { state.withLock { $0.now } }
  package var minimumResolution: Duration { .zero }
  /// How long until the first of those that sleep wakes; nil if nobody sleeps.
  package var untilNext: Duration? {
    state.withLock { state in state.sleepers.values.map { $0.end - state.now }.min() }
  }

  /// Lets time pass, and wakes those whose time has come.
  package func advance(by duration: Duration) {
    let woken = state.withLock { state in
      state.now += duration
      let due = state.sleepers.filter { $0.value.end <= state.now }
      for id in due.keys { state.sleepers[id] = nil }
      return due.values.sorted { $0.end < $1.end }
    }
    for sleeper in woken { sleeper.continuation.resume() }
  }

  package func sleep(until end: ContinuousClock.Instant, tolerance: Duration?) async throws {
    let id = state.withLock { state in
      state.lastID += 1
      return state.lastID
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let isOver = state.withLock { state -> Result<Void, any Error>? in
          if state.cancelled.remove(id) != nil { return .failure(CancellationError()) }
          if end <= state.now { return .success(()) }
          state.sleepers[id] = Sleeper(end: end, continuation: continuation)
          return nil
        }
        if let isOver { continuation.resume(with: isOver) }
      }
    } onCancel: {
      let sleeper = state.withLock { state in
        let sleeper = state.sleepers.removeValue(forKey: id)
        if sleeper == nil { state.cancelled.insert(id) }
        return sleeper
      }
      sleeper?.continuation.resume(throwing: CancellationError())
    }
  }
}
