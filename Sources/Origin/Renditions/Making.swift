import Synchronization

/// A rendition that is being made: all who ask for the same meanwhile get what comes of it.
final class Making: Sendable {
  typealias Outcome = Result<Rendered, Refusal>

  private struct State {
    var waiting: [CheckedContinuation<Outcome, Never>] = []
    /// What came of it; nil as long as it is under way.
    var outcome: Outcome?
  }

  private let state = Mutex(State())

  private let left = Atomic(false)

  /// Whether the caller that began it comes back for what comes of it.
  var isLeft: Bool { left.load(ordering: .sequentiallyConsistent) }

  /// How many wait for it.
  var waiting: Int { state.withLock { $0.waiting.count } }

  /// What came of it; nil as long as it is under way: the caller that began it comes back then.
  func leave() -> Outcome? {
    state.withLock { state in
      if state.outcome == nil { left.store(true, ordering: .sequentiallyConsistent) }
      return state.outcome
    }
  }

  /// Waits for what comes of it.
  func wait() async -> Outcome {
    await withCheckedContinuation { continuation in
      let outcome = state.withLock { state in
        if state.outcome == nil { state.waiting.append(continuation) }
        return state.outcome
      }
      if let outcome { continuation.resume(returning: outcome) }
    }
  }

  /// Tells everybody.
  func end(_ outcome: Outcome) {
    let waiting = state.withLock { state in
      state.outcome = outcome
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume(returning: outcome) }
  }
}
