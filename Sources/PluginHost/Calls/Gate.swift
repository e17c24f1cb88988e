import Synchronization

/// Lets a bounded number of calls through at a time and a bounded number wait.
final class Gate: Sendable {
  private struct Waiter {
    let ticket: Int
    let deadline: ContinuousClock.Instant
    let turn: CheckedContinuation<Bool, Never>
  }

  private struct State {
    var free: Int
    /// As many places are left to those who cannot wait.
    var spare = 0
    var waiting: [Waiter] = []
    var lastTicket = 0
    var isWatched = false
    var refused = 0
    /// Since when somebody waits for a place and none was given back.
    var wanted: ContinuousClock.Instant?
  }

  /// How many are inside, wait or were refused, and whether nothing moves any more.
  var standing: PluginStatus.Queue {
    state.withLock { state in
      let isStuck = state.wanted.map { .now - $0 > patience * 2 } ?? false
      return PluginStatus.Queue(
        running: places - state.free, waiting: state.waiting.count, refused: state.refused,
        isStuck: isStuck)
    }
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
  /// - Parameter spare: So many places are left to those who cannot wait.
  /// - Throws: ``PluginError`` 503 at once when the queue is full, or when patience ends.
  func enter(sparing spare: Int = 0) async throws(PluginError) {
    if isEntered(sparing: spare) { return }
    let ticket = state.withLock { state in
      state.lastTicket += 1
      return state.lastTicket
    }
    let isMyTurn = await withTaskCancellationHandler {
      await withCheckedContinuation { join($0, ticket, sparing: spare) }
    } onCancel: {
      giveUp(ticket)
    }
    guard isMyTurn else {
      state.withLock { $0.refused += 1 }
      throw .busy("The plugin has more to do than it can; try again.")
    }
  }

  /// Takes a place when there is one to be had at once.
  func isEntered(sparing spare: Int = 0) -> Bool {
    state.withLock { state in
      guard state.free > spare else { return false }
      state.free -= 1
      return true
    }
  }

  /// Gives the place back.
  func leave() {
    let next = state.withLock { state -> CheckedContinuation<Bool, Never>? in
      state.wanted = nil
      if !state.waiting.isEmpty, state.free >= state.spare {
        state.wanted = state.waiting.count > 1 ? .now : nil
        return state.waiting.removeFirst().turn
      }
      state.free += 1
      return nil
    }
    next?.resume(returning: true)
  }

  private func join(
    _ turn: CheckedContinuation<Bool, Never>, _ ticket: Int, sparing spare: Int
  ) {
    let deadline = ContinuousClock.now + patience
    let (answer, isFirst) = state.withLock { state -> (Bool?, Bool) in
      state.spare = spare
      if state.free > spare {
        state.free -= 1
        return (true, false)
      }
      if state.wanted == nil { state.wanted = .now }
      guard state.waiting.count < queueLength, !Task.isCancelled else { return (false, false) }
      state.waiting.append(Waiter(ticket: ticket, deadline: deadline, turn: turn))
      defer { state.isWatched = true }
      return (nil, !state.isWatched)
    }
    if let answer { turn.resume(returning: answer) }
    if isFirst { Task { await watch(from: deadline) } }
  }

  /// Sends away whose patience has ended; one task does it for all, as long as anybody waits.
  private func watch(from first: ContinuousClock.Instant) async {
    var next: ContinuousClock.Instant? = first
    while let deadline = next {
      try? await Task.sleep(until: deadline)
      let late = state.withLock { state in
        let late = state.waiting.prefix { $0.deadline <= .now }
        state.waiting.removeFirst(late.count)
        next = state.waiting.first?.deadline
        state.isWatched = next != nil
        return late
      }
      for waiter in late { waiter.turn.resume(returning: false) }
    }
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
