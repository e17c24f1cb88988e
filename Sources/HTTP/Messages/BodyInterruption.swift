import Synchronization

/// Ends the receipt of a request's body before it is complete, with a response.
///
/// Part of a ``ResponsePlan``, which the connection keeps until the body is complete or will never be.
package final class BodyInterruption: Sendable {
  private enum State {
    case waiting
    case received(by: @Sendable (Response) -> Void)
    case interrupted(Response)
  }

  private let state = Mutex(State.waiting)
  private let onEnd: @Sendable () -> Void

  /// `onEnd` is called when nothing is left to interrupt.
  package init(onEnd: @escaping @Sendable () -> Void) { self.onEnd = onEnd }

  deinit { onEnd() }

  /// Sends the response and closes the connection, unless the body is complete.
  package func interrupt(with response: Response) {
    let handler = state.withLock { state -> (@Sendable (Response) -> Void)? in
      defer { state = .interrupted(response) }
      if case .received(let handler) = state { return handler }
      return nil
    }
    handler?(response)
  }

  /// Calls the handler, from any thread, when ``interrupt(with:)`` is called, immediately if it was.
  func onInterrupt(_ handler: @escaping @Sendable (Response) -> Void) {
    let response: Response? = state.withLock { state in
      if case .interrupted(let response) = state { return response }
      state = .received(by: handler)
      return nil
    }
    if let response { handler(response) }
  }
}
