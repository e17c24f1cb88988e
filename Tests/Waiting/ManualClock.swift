package import Foundation
import Primitives
import Synchronization

/// A clock on which time passes only when a test says so, also the date.
package final class ManualClock: SteadyClock {
  package typealias Duration = Swift.Duration

  private struct Sleeper {
    let end: ContinuousClock.Instant
    let continuation: CheckedContinuation<Void, any Error>
  }

  /// The result of a sleep that is over at once, or else who waited for a sleeper.
  private typealias Started = (Result<Void, any Error>?, [CheckedContinuation<Void, Never>])

  private struct State {
    var now: ContinuousClock.Instant
    var sleepers: [Int: Sleeper] = [:]
    var lastID = 0
    /// Those that were cancelled before they slept.
    var cancelled: Set<Int> = []
    /// Those that wait until somebody sleeps.
    var watchers: [CheckedContinuation<Void, Never>] = []

    /// Goes on to a time; resume those that it returns.
    mutating func go(to time: ContinuousClock.Instant) -> [Sleeper] {
      now = time
      let due = sleepers.filter { $0.value.end <= time }
      for id in due.keys { sleepers[id] = nil }
      return due.values.sorted { $0.end < $1.end }
    }
  }

  private let start: (instant: ContinuousClock.Instant, date: Date)
  private let state: Mutex<State>

  /// A clock that begins at a date, if nothing is said on 2027-01-15.
  package init(at date: Date = Date(timeIntervalSince1970: 1_800_000_000)) {
    start = (.now, date)
    state = Mutex(State(now: start.instant))
  }

  package var now: ContinuousClock.Instant { state.withLock { $0.now } }
  package var minimumResolution: Duration { .zero }
  /// The date, which goes on with the clock.
  package var date: Date { start.date + (now - start.instant) / .seconds(1) }
  /// How long until the first of those that sleep wakes; nil if nobody sleeps.
  package var untilNext: Duration? {
    state.withLock { state in state.sleepers.values.map { $0.end - state.now }.min() }
  }

  /// Lets time pass, and wakes those whose time has come.
  package func advance(by duration: Duration) {
    let woken = state.withLock { $0.go(to: $0.now + duration) }
    for sleeper in woken { sleeper.continuation.resume() }
  }

  /// Waits until somebody sleeps, then lets time pass until the first of those wakes.
  ///
  /// - Throws: `CancellationError`.
  package func advanceToNext() async throws {
    while true {
      try Task.checkCancellation()
      let woken = state.withLock { state in
        state.sleepers.values.map(\.end).min().map { state.go(to: $0) }
      }
      if let woken {
        for sleeper in woken { sleeper.continuation.resume() }
        return
      }
      await sleeper()
    }
  }

  /// Runs `body`, in which nobody who sleeps waits: the time of the first passes at once.
  package func withoutWaiting<R>(_ body: () async throws -> R) async rethrows -> R {
    let passing = Task { while true { try await advanceToNext() } }
    defer { passing.cancel() }
    return try await body()
  }

  package func sleep(until end: ContinuousClock.Instant, tolerance: Duration?) async throws {
    let id = state.withLock { state in
      state.lastID += 1
      return state.lastID
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let (isOver, watchers) = state.withLock { state -> Started in
          if state.cancelled.remove(id) != nil { return (.failure(CancellationError()), []) }
          if end <= state.now { return (.success(()), []) }
          state.sleepers[id] = Sleeper(end: end, continuation: continuation)
          defer { state.watchers = [] }
          return (nil, state.watchers)
        }
        if let isOver { continuation.resume(with: isOver) }
        for watcher in watchers { watcher.resume() }
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

  /// Returns when somebody sleeps, or when the task is cancelled.
  private func sleeper() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isDone = state.withLock { state in
          let isDone = !state.sleepers.isEmpty || Task.isCancelled
          if !isDone { state.watchers.append(continuation) }
          return isDone
        }
        if isDone { continuation.resume() }
      }
    } onCancel: {
      let watchers = state.withLock { state in
        defer { state.watchers = [] }
        return state.watchers
      }
      for watcher in watchers { watcher.resume() }
    }
  }
}
