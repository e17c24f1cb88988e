import CLinux
import Glibc
import Synchronization

/// One process for one call: what it writes is collected until it and all it started have ended.
final class OneShot: Watcher {
  /// What came of it.
  struct Outcome: Sendable {
    let ending: Ending
    let answer: AnswerSpool
    /// What it wrote to its standard error, at most 64 KiB.
    let complaints: [UInt8]
    /// Why the host stopped it; nil when it did not.
    let malformation: Malformation?
  }

  private struct State {
    var answer: AnswerSpool
    var complaints: [UInt8] = []
    var malformation: Malformation?
    var tickets: [Int32: Poller.Ticket] = [:]
    var waiting: CheckedContinuation<Outcome, Never>?
  }

  /// Kept of the standard error of a call.
  static let mostComplaints = 65_536
  /// How long a supervisor may take beyond the plugin's deadline before it is given up.
  private static let patience = Duration.seconds(10)

  private let poller: Poller
  private let status: Descriptor
  private let output: Descriptor
  private let errors: Descriptor
  private let deadline: ContinuousClock.Instant
  private let state: Mutex<State>

  /// Starts the process.
  ///
  /// - Parameters:
  ///   - order: What to run.
  ///   - body: Its standard input.
  ///   - answer: Collects its standard output.
  ///   - forker: Starts it.
  ///   - poller: Waits for it.
  /// - Throws: ``PluginError`` 503 when no process or descriptor can be had.
  init(
    _ order: Order, body: [UInt8], answer: AnswerSpool, forker: Forker, poller: Poller
  ) throws(PluginError) {
    guard let status = Channel.socketPair(), let output = Channel.pipe(),
      let errors = Channel.pipe(), let input = Channel.input(body)
    else { throw .busy("The server has no descriptors left for the plugin.") }
    try forker.send(order, [status.theirs, input, output.theirs, errors.theirs])
    self.poller = poller
    self.status = status.ours
    self.output = output.ours
    self.errors = errors.ours
    deadline = .now + (order.deadline ?? .zero) + OneShot.patience
    state = Mutex(State(answer: answer))
  }

  /// Waits for the end; a cancelled task ends the process at once.
  func outcome() async -> Outcome {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        state.withLock { state in
          state.waiting = continuation
          for descriptor in [status, output, errors] {
            state.tickets[descriptor.number] = poller.watch(
              descriptor.number, until: descriptor === status ? deadline : nil, self)
          }
        }
      }
    } onCancel: {
      stop()
    }
  }

  /// Asks the supervisor to kill the process; its report ends the call.
  private func stop() {
    shutdown(status.number, Int32(SHUT_WR))
  }

  func ready(_ descriptor: Int32) {
    state.withLock { state in
      if descriptor == output.number {
        collectOutput(&state)
      } else if descriptor == errors.number {
        collectErrors(&state)
      } else {
        finish(&state, Ending(report: status.contents(atMost: 4096) ?? []))
      }
    }
  }

  func expired() {
    state.withLock { finish(&$0, .lost) }
  }

  private func collectOutput(_ state: inout State) {
    guard state.malformation == nil else { return }
    let isAtEnd = output.drain { piece in
      guard state.malformation == nil else { return }
      do throws(Malformation) {
        try state.answer.append(piece)
      } catch {
        state.malformation = error
      }
    }
    if state.malformation != nil {
      stop()
      state.answer = AnswerSpool(limit: 0, folder: "")
    }
    if isAtEnd || state.malformation != nil { forget(output, &state) }
  }

  private func collectErrors(_ state: inout State) {
    let isAtEnd = errors.drain { piece in
      state.complaints += piece.prefix(OneShot.mostComplaints - state.complaints.count)
    }
    if isAtEnd { forget(errors, &state) }
  }

  private func forget(_ descriptor: Descriptor, _ state: inout State) {
    if let ticket = state.tickets.removeValue(forKey: descriptor.number) { poller.forget(ticket) }
  }

  private func finish(_ state: inout State, _ ending: Ending) {
    guard let waiting = state.waiting else { return }
    collectOutput(&state)
    collectErrors(&state)
    for descriptor in [status, output, errors] { forget(descriptor, &state) }
    let outcome = Outcome(
      ending: ending, answer: state.answer, complaints: state.complaints,
      malformation: state.malformation)
    state.waiting = nil
    state.answer = AnswerSpool(limit: 0, folder: "")  // so that its file goes with the outcome
    // Given away whole: this thread must not keep the answer's file a moment longer than the caller.
    waiting.resume(returning: consume outcome)
  }
}
