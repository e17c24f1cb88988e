import RichPushAPI
import Synchronization

/// A rendition that is being made; all who request it meanwhile share its outcome.
final class InFlightRender: Sendable {
  typealias Outcome = Result<RenderedMedia, ServiceError>

  private struct State {
    var waiters: [CheckedContinuation<Outcome, Never>] = []
    /// Nil until the render is complete.
    var outcome: Outcome?
    var isHandedOver = false
  }

  private let state = Mutex(State())

  /// The number of callers that wait for it.
  var subscribers: Int { state.withLock { $0.waiters.count } }

  /// Whether the caller that began it has taken ``outcomeOrHandOver()`` and got nothing yet.
  var isHandedOver: Bool { state.withLock { $0.isHandedOver } }

  /// The outcome; nil if it is not complete: then the caller waits for it by ``outcome()``.
  func outcomeOrHandOver() -> Outcome? {
    state.withLock { state in
      if state.outcome == nil { state.isHandedOver = true }
      return state.outcome
    }
  }

  /// Waits for the outcome.
  func outcome() async -> Outcome {
    await withCheckedContinuation { continuation in
      let outcome = state.withLock { state in
        if state.outcome == nil { state.waiters.append(continuation) }
        return state.outcome
      }
      if let outcome { continuation.resume(returning: outcome) }
    }
  }

  /// Completes the render and resumes every waiter with its outcome.
  func complete(_ outcome: Outcome) {
    let waiters = state.withLock { state in
      state.outcome = outcome
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume(returning: outcome) }
  }
}
