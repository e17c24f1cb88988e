import Synchronization

/// Wakes a waiting loop; signals sent while it is busy are combined into one.
package final class WakeSignal: Sendable {
  private struct State {
    var isSent = false
    var waiting: [(number: Int, continuation: CheckedContinuation<Void, Never>)] = []
    var last = 0
  }

  private let state = Mutex(State())

  /// A signal that has not been sent.
  package init() {}

  /// Wakes the loop, or lets its next wait return at once.
  package func send() {
    let next = state.withLock { state in
      state.isSent = state.waiting.isEmpty
      return state.isSent ? nil : state.waiting.removeFirst().continuation
    }
    next?.resume()
  }

  /// Returns at the next signal, or when the task is cancelled; others can wait for it after that, unlike for an
  /// `AsyncStream`.
  package func wait() async {
    let number = state.withLock { state in
      state.last += 1
      return state.last
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          if state.isSent || Task.isCancelled {
            state.isSent = state.isSent && Task.isCancelled
            return true
          }
          state.waiting.append((number, continuation))
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      let own = state.withLock { state in
        state.waiting.firstIndex { $0.number == number }.map { state.waiting.remove(at: $0) }
      }
      own?.continuation.resume()
    }
  }

  /// Returns at the next signal, when `timeout` returns, or when the task is cancelled.
  ///
  /// - Parameter timeout: Sleeps; it is cancelled when a signal comes first. If it throws, only a
  ///   signal ends the wait.
  package func wait(orUntil timeout: @escaping @Sendable () async throws -> Void) async {
    let alarm = Task {
      try await timeout()
      send()
    }
    await wait()
    alarm.cancel()
  }
}
