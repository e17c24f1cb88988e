import Synchronization

/// Whether this process is the one node that does something, such as delivering events to the operator's programs:
/// always, unless several nodes share a database.
package final class Lead: Sendable {
  private struct State {
    var isHeld = false
    var name: String?
    var observer: (@Sendable (Bool) -> Void)?
  }

  private let state: Mutex<State>

  /// With a name, nodes compete for it from the start.
  init(name: String? = nil) { state = Mutex(State(name: name)) }

  /// What the nodes compete for; nil if this one does not yet.
  var name: String? { state.withLock { $0.name } }

  /// Competes with the nodes that give the same name.
  package func compete(for name: String) { state.withLock { $0.name = name } }

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
