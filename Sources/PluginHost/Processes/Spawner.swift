import CLinux
import Glibc
import Synchronization

/// A supervisor that stays, and starts a process of the plugin for each call (CGI), as Apache's
/// mod_cgid does: pipes, folder, rules and filters are made once, and a call costs a `vfork`.
///
/// It serves one call at a time. When it reports the end of one, the process and all it started are
/// gone, and what they wrote is in the pipes, whole.
final class Spawner: Resident, Watcher {
  /// What came of a call.
  struct Outcome: Sendable {
    let ending: Ending
    let answer: AnswerSpool
    /// What it wrote to its standard error, at most 64 KiB.
    let complaints: [UInt8]
    /// Why the host stopped it; nil when it did not.
    let malformation: Malformation?
  }

  private struct Call {
    var answer: AnswerSpool
    var complaints: [UInt8] = []
    var malformation: Malformation?
    let waiting: CheckedContinuation<Outcome, Never>
  }

  private struct State {
    var requests = 0
    var isAlive = true
    var isRetired = false
    var isCancelled = false
    var call: Call?
    var news: News<Outcome>?
    var tickets: [Poller.Ticket] = []
    var onRest: (@Sendable () -> Void)?
    var onEnd: (@Sendable () -> Void)?
  }

  /// Kept of the standard error of a call.
  static let mostComplaints = 65_536
  /// How long a supervisor may take beyond the plugin's deadline before it is given up.
  private static let patience = Duration.seconds(10)

  /// Holds the assets lent to it (`in`) and its TMPDIR (`tmp`).
  private let residence: Residence
  var scratch: ScratchFolder { residence.scratch }
  var folder: ScratchFolder { residence.folder }
  private let channel: Descriptor
  private let output: Descriptor
  private let errors: Descriptor
  private let poller: Poller
  private let deadline: Duration
  private let state = Mutex(State())

  /// Starts the supervisor.
  ///
  /// - Parameters:
  ///   - residence: An empty folder of its own.
  ///   - order: What to run for each call.
  ///   - forker: Starts it.
  ///   - poller: Waits for it.
  /// - Throws: ``PluginError`` 503 when no process or descriptor can be had.
  init(
    residence: Residence, order: Order, forker: Forker, poller: Poller
  ) throws(PluginError) {
    guard let channel = Channel.packets(), let output = Channel.pipe(),
      let errors = Channel.pipe(), let input = Channel.input([])
    else { throw .busy("The server has no descriptors left for the plugin.") }
    try forker.send(order, [channel.theirs, input, output.theirs, errors.theirs])
    self.residence = residence
    (self.channel, self.output, self.errors) = (channel.ours, output.ours, errors.ours)
    self.poller = poller
    deadline = (order.deadline ?? .zero) + Spawner.patience
    state.withLock { state in
      state.tickets = [self.channel, self.output, self.errors].map {
        poller.watch($0.number, self)
      }
    }
  }

  var requests: Int { state.withLock { $0.requests } }
  var isReplaced: Bool { true }
  var isAlive: Bool { state.withLock { $0.isAlive && !$0.isRetired } }

  /// Runs the plugin once and waits for its end; a cancelled task ends it at once.
  ///
  /// - Throws: ``PluginError`` 503 when the supervisor or a descriptor is missing.
  func run(
    _ environment: [UInt8], body: [UInt8], answer: AnswerSpool
  ) async throws(PluginError) -> Outcome {
    let input = body.isEmpty ? nil : Channel.input(body)
    guard body.isEmpty || input != nil else {
      throw .busy("The server has no descriptors left for the plugin.")
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        change { state in
          begin(&state, Call(answer: answer, waiting: continuation))
          let sent = clinux_send(
            channel.number, environment, environment.count, input.map { [$0.number] } ?? [],
            input == nil ? 0 : 1)
          if sent != environment.count { return finish(&state, .lost) }
          if state.isCancelled { kill() }
        }
      }
    } onCancel: {
      state.withLock { state in
        state.isCancelled = true
        if state.call != nil { kill() }
      }
    }
  }

  func rest(until deadline: ContinuousClock.Instant, then action: @escaping @Sendable () -> Void) {
    state.withLock { state in
      state.onRest = action
      if let life = state.tickets.first { poller.postpone(life, until: deadline) }
    }
  }

  func whenEnded(_ action: @escaping @Sendable () -> Void) {
    let isOver = state.withLock { state in
      if state.isAlive { state.onEnd = action }
      return !state.isAlive
    }
    if isOver { action() }
  }

  func retire() {
    state.withLock { leave(&$0) }
  }

  private func leave(_ state: inout State) {
    state.isRetired = true
    shutdown(channel.number, Int32(SHUT_WR))
  }

  func ready(_ descriptor: Int32) {
    if descriptor == output.number { return state.withLock { collectOutput(&$0) } }
    if descriptor == errors.number { return state.withLock { collectErrors(&$0) } }
    var report = [UInt8](repeating: 0, count: 256)
    switch report.withUnsafeMutableBytes(channel.read) {
    case .notYet: return
    case .end: end()
    case .bytes(let count):
      change { finish(&$0, Ending(report: Array(report.prefix(count)))) }
    }
  }

  func expired() {
    var action: (@Sendable () -> Void)?
    change { state in
      if state.call == nil { action = state.onRest } else { finish(&state, .lost) }
    }
    action?()
  }

  private func change(_ body: (inout State) -> Void) {
    let news = state.withLock { state in
      body(&state)
      return state.news.take()
    }
    news?.tell()
  }

  private func begin(_ state: inout State, _ call: Call) {
    state.requests += 1
    state.isCancelled = Task.isCancelled
    state.onRest = nil
    state.call = call
    if let life = state.tickets.first { poller.postpone(life, until: .now + deadline) }
    if !state.isAlive { finish(&state, .lost) }
  }

  /// The process, not the supervisor, whose report then ends the call.
  private func kill() { Word.kill.say(to: channel) }

  /// The supervisor is gone.
  private func end() {
    var action: (@Sendable () -> Void)?
    change { state in
      state.isAlive = false
      finish(&state, .lost)
      for ticket in state.tickets { poller.forget(ticket) }
      state.tickets = []
      action = state.onEnd.take()
    }
    action?()
    Task { [residence] in await residence.remove() }
  }

  private func collectOutput(_ state: inout State) {
    guard state.call != nil, state.call?.malformation == nil else {
      _ = output.drain { _ in }
      return
    }
    _ = output.drain { piece in
      guard state.call?.malformation == nil else { return }
      do throws(Malformation) {
        try state.call?.answer.append(piece)
      } catch {
        state.call?.malformation = error
        state.call?.answer = AnswerSpool(limit: 0, folder: "")
        kill()
      }
    }
  }

  private func collectErrors(_ state: inout State) {
    _ = errors.drain { piece in
      guard let count = state.call?.complaints.count else { return }
      state.call?.complaints += piece.prefix(Spawner.mostComplaints - count)
    }
  }

  private func finish(_ state: inout State, _ ending: Ending) {
    guard state.call != nil else { return }
    collectOutput(&state)
    collectErrors(&state)
    guard let call = state.call.take() else { return }
    if let life = state.tickets.first { poller.postpone(life, until: nil) }
    if ending == .lost { leave(&state) }
    let outcome = Outcome(
      ending: ending, answer: call.answer, complaints: call.complaints,
      malformation: call.malformation)
    state.news = News(outcome, for: call.waiting)
  }
}
