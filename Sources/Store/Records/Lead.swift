import Synchronization

/// Whether this process is the one node that watches the drop folder and delivers events to the operator's
/// programs: always, unless several nodes share a database.
package final class Lead: Sendable {
  private struct State {
    var isHeld = false
    var observer: (@Sendable (Bool) -> Void)?
  }

  private let state = Mutex(State())

  /// Whether this node has the lead now.
  package var isHeld: Bool { state.withLock { $0.isHeld } }

  /// Calls a function when the lead is taken or lost, and now if it is held.
  package func observe(_ body: @escaping @Sendable (Bool) -> Void) {
    // Under the lock, so that the calls are in order.
    state.withLock { state in
      state.observer = body
      if state.isHeld { body(true) }
    }
  }

  func set(_ isHeld: Bool) {
    state.withLock { state in
      guard state.isHeld != isHeld else { return }
      state.isHeld = isHeld
      state.observer?(isHeld)
    }
  }
}
