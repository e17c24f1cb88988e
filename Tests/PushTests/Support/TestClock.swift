import Foundation
import Synchronization

@testable import Push

/// A clock that stands still until a test moves it.
final class TestClock: PushClock {
  private struct Sleeper {
    let deadline: Date
    let continuation: CheckedContinuation<Void, any Error>
  }

  private struct State {
    var now: Date
    var sleepers: [UUID: Sleeper] = [:]
    var cancelled: Set<UUID> = []
    var watchers: [CheckedContinuation<Void, Never>] = []
  }

  private let state: Mutex<State>

  init(_ now: Date = Date(timeIntervalSince1970: 1_800_000_000)) {
    state = Mutex(State(now: now))
  }

  /// A clock that stands still now, at a whole second.
  static func atSystemTime() -> TestClock {
    TestClock(Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.down)))
  }

  var now: Date { state.withLock { $0.now } }

  func sleep(until deadline: Date) async throws {
    let id = UUID()
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let watchers: [CheckedContinuation<Void, Never>]? = state.withLock { state in
          if state.cancelled.remove(id) != nil { return nil }
          state.sleepers[id] = Sleeper(deadline: deadline, continuation: continuation)
          defer { state.watchers = [] }
          return state.watchers
        }
        guard let watchers else { return continuation.resume(throwing: CancellationError()) }
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

  /// Moves to a time, and wakes nobody.
  func set(_ now: Date) { state.withLock { $0.now = now } }

  /// Waits until somebody sleeps, then moves to the earliest deadline and wakes its sleepers.
  ///
  /// Throws when the task is cancelled.
  @discardableResult func advance() async throws -> Date {
    while true {
      try Task.checkCancellation()
      let woken = state.withLock { state -> (Date, [Sleeper])? in
        guard let next = state.sleepers.values.map(\.deadline).min() else { return nil }
        state.now = max(state.now, next)
        let due = state.sleepers.filter { $0.value.deadline <= next }
        for id in due.keys { state.sleepers[id] = nil }
        return (state.now, Array(due.values))
      }
      if let (now, sleepers) = woken {
        for sleeper in sleepers { sleeper.continuation.resume() }
        return now
      }
      await sleeper()
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
