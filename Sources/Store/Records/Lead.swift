import Synchronization

/// Whether this process is the one node that does something, such as delivering events to the operator's programs:
/// always, unless several nodes share a database.
package final class Lead: Sendable {
  private struct State {
    var isHeld = false
    var name: String?
    var observer: (@Sendable (Bool) -> Void)?
    /// Since when no node has had it; nil while one has.
    var vacantSince: ContinuousClock.Instant?
    var isVacant = false
  }

  private let state: Mutex<State>
  /// Called with true when no node has had it for a minute, and with false when one has it again.
  package let onVacancy = Observers<Bool>()

  /// So long nobody has it while it passes from one node to another.
  static let longestChange = Duration.seconds(60)

  /// With a name, nodes compete for it from the start.
  init(name: String? = nil) { state = Mutex(State(name: name)) }

  /// What the nodes compete for; nil if this one does not yet.
  var name: String? { state.withLock { $0.name } }

  /// Competes with the nodes that give the same name.
  package func compete(for name: String) { state.withLock { $0.name = name } }

  /// Whether this node has the lead now.
  package var isHeld: Bool { state.withLock { $0.isHeld } }

  /// Whether no node has had it for a minute, although this one would take it.
  package var isVacant: Bool { state.withLock { $0.isVacant } }

  /// Since when no node has had it; nil while one has, or this one does not compete.
  var vacantSince: ContinuousClock.Instant? { state.withLock { $0.vacantSince } }

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

  /// Records whether it is this node's or another's.
  package func record(isAnyNodes: Bool, at now: ContinuousClock.Instant) {
    let change = state.withLock { state -> Bool? in
      state.vacantSince = isAnyNodes ? nil : state.vacantSince ?? now
      let isVacant = state.vacantSince.map { now - $0 >= Self.longestChange } ?? false
      guard isVacant != state.isVacant else { return nil }
      state.isVacant = isVacant
      return isVacant
    }
    if let change { onVacancy(change) }
  }
}
