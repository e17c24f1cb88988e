import HTTP
import Store
import Synchronization

/// The requests of users whose bodies are being received.
final class OpenBodies: Sendable {
  private struct Body {
    let caller: Caller
    weak var interruption: BodyInterruption?
  }

  private struct State {
    var bodies: [UserID: [Int: Body]] = [:]
    var next = 0
  }

  private let store: Store
  private let state = Mutex(State())

  init(_ store: Store) { self.store = store }

  /// Adds a request of this caller, until its body is complete or will never be.
  func add(_ caller: Caller) -> BodyInterruption {
    let number = state.withLock { state in
      state.next += 1
      return state.next
    }
    let interruption = BodyInterruption { [weak self] in self?.remove(number, of: caller.id) }
    state.withLock { state in
      state.bodies[caller.id, default: [:]][number] = Body(
        caller: caller, interruption: interruption)
    }
    return interruption
  }

  /// Ends the requests whose callers are no longer valid: those of a user, or of all users.
  func endInvalid(of user: UserID? = nil) async {
    let bodies = state.withLock { state in
      let users = user.map { [$0] } ?? Array(state.bodies.keys)
      return users.flatMap { state.bodies[$0].map { Array($0.values) } ?? [] }
    }
    for body in bodies {
      // What cannot be read now is checked again when the body is complete.
      guard let isCurrent = try? await store.isCurrent(body.caller), !isCurrent else { continue }
      body.interruption?.interrupt(with: body.caller.response(to: .callerChanged))
    }
  }

  /// The number of requests whose bodies are being received.
  var count: Int { state.withLock { $0.bodies.values.reduce(0) { $0 + $1.count } } }

  private func remove(_ number: Int, of user: UserID) {
    state.withLock { state in
      state.bodies[user]?[number] = nil
      if state.bodies[user]?.isEmpty == true { state.bodies[user] = nil }
    }
  }
}
