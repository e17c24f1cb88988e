import Synchronization

/// Lets a bounded number of calls through at a time and a bounded number wait.
final class Gate: Sendable {
  private struct State {
    var free: Int
    var waiting: [(ticket: Int, turn: CheckedContinuation<Bool, Never>)] = []
    var lastTicket = 0
  }

  private let state: Mutex<State>
  let places: Int
  private let queueLength: Int
  private let patience: Duration

  init(places: Int, queueLength: Int, patience: Duration) {
    state = Mutex(State(free: places))
    self.places = places
    self.queueLength = queueLength
    self.patience = patience
  }

  /// Takes a place, waiting for one; whoever got one must ``leave()``.
  ///
  /// - Throws: ``PluginError`` 503 at once when the queue is full, or when patience ends.
  func enter() async throws(PluginError) {
    let hasEntered = state.withLock { state in
      guard state.free > 0 else { return false }
      state.free -= 1
      return true
    }
    if hasEntered { return }
    let ticket = state.withLock { state in
      state.lastTicket += 1
      return state.lastTicket
    }
    let timer = Task {
      try await Task.sleep(for: patience)
      giveUp(ticket)
    }
    defer { timer.cancel() }
    let isMyTurn = await withTaskCancellationHandler {
      await withCheckedContinuation { join($0, ticket) }
    } onCancel: {
      giveUp(ticket)
    }
    guard isMyTurn else { throw .busy("The plugin has more to do than it can; try again.") }
  }

  /// Gives the place back.
  func leave() {
    let next = state.withLock { state -> CheckedContinuation<Bool, Never>? in
      if !state.waiting.isEmpty { return state.waiting.removeFirst().turn }
      state.free += 1
      return nil
    }
    next?.resume(returning: true)
  }

  private func join(_ turn: CheckedContinuation<Bool, Never>, _ ticket: Int) {
    let answer = state.withLock { state -> Bool? in
      if state.free > 0 {
        state.free -= 1
        return true
      }
      guard state.waiting.count < queueLength, !Task.isCancelled else { return false }
      state.waiting.append((ticket, turn))
      return nil
    }
    if let answer { turn.resume(returning: answer) }
  }

  private func giveUp(_ ticket: Int) {
    let turn = state.withLock { state -> CheckedContinuation<Bool, Never>? in
      guard let index = state.waiting.firstIndex(where: { $0.ticket == ticket }) else {
        return nil
      }
      return state.waiting.remove(at: index).turn
    }
    turn?.resume(returning: false)
  }
}
