import Synchronization

/// A rendition that is being made: all who ask for the same meanwhile get what comes of it.
final class Making: Sendable {
  typealias Outcome = Result<Rendered, Refusal>

  private enum State {
    case underWay([CheckedContinuation<Outcome, Never>])
    case over(Outcome)
  }

  private let state = Mutex(State.underWay([]))

  private let left = Atomic(false)

  /// Whether the caller that began it comes back for what comes of it.
  var isLeft: Bool { left.load(ordering: .sequentiallyConsistent) }

  /// What came of it; nil as long as it is under way: the caller that began it comes back then.
  func leave() -> Outcome? {
    state.withLock { state in
      if case .over(let outcome) = state { return outcome }
      left.store(true, ordering: .sequentiallyConsistent)
      return nil
    }
  }

  /// Waits for what comes of it.
  func wait() async -> Outcome {
    await withCheckedContinuation { continuation in
      let outcome = state.withLock { state -> Outcome? in
        switch state {
        case .over(let outcome): return outcome
        case .underWay(let waiting):
          state = .underWay(waiting + [continuation])
          return nil
        }
      }
      if let outcome { continuation.resume(returning: outcome) }
    }
  }

  /// Tells everybody.
  func end(_ outcome: Outcome) {
    let waiting = state.withLock { state -> [CheckedContinuation<Outcome, Never>] in
      defer { state = .over(outcome) }
      if case .underWay(let waiting) = state { return waiting }
      return []
    }
    for continuation in waiting { continuation.resume(returning: outcome) }
  }
}
