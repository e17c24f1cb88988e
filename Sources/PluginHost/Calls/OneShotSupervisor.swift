import CLinux
import Glibc
import Primitives
import Synchronization

/// A resident supervisor that starts a process of the plugin for each call (CGI), like Apache's mod_cgid:
/// pipes, folder and sandbox are made once, and a call costs a `vfork`.
///
/// It has one call at a time. When it reports the end of one, the process and all its descendants are
/// gone, and all that they wrote is in the pipes.
final class OneShotSupervisor: PooledProcess, PollHandler {
  struct Outcome: Sendable {
    let exit: ProcessExit
    let response: CGIResponseBuffer
    let standardError: [UInt8]
    /// Why the host stopped the process; nil if it did not.
    let malformation: MalformedOutput?
  }

  private struct Call {
    var response: CGIResponseBuffer
    var standardError: [UInt8] = []
    var malformation: MalformedOutput?
    let waiter: CheckedContinuation<Outcome, Never>
  }

  private struct State {
    var requests = 0
    var isAlive = true
    var isRetired = false
    var isCancelled = false
    var call: Call?
    var pendingResume: PendingResume<Outcome>?
    /// The first one's deadline ends a call or the idle time.
    var tokens: [Poller.Token] = []
    var onIdleTimeout: (@Sendable () -> Void)?
    var onEnd: (@Sendable () -> Void)?
  }

  /// If a supervisor has not reported so long after the deadline, it counts as lost.
  private static let reportTimeout = Duration.seconds(10)

  let folder: ProcessFolder
  /// The variables that are the same for each call.
  let variables: PluginEnvironment.Variables
  private let channel: FileDescriptor
  private let output: FileDescriptor
  private let errors: FileDescriptor
  private let poller: Poller
  private let timeout: Duration
  private let state = Mutex(State())

  /// Starts a supervisor with an empty folder of its own.
  ///
  /// The `variables` are the same for each call.
  ///
  /// - Throws: ``PluginError/Code/busy`` if no process can be started or no descriptors are left.
  init(
    _ spec: LaunchSpec, in folder: ProcessFolder, variables: PluginEnvironment.Variables,
    _ launcher: PluginLauncher, _ poller: Poller
  ) throws(PluginError) {
    guard let channel = ProcessChannel.sockets(SOCK_SEQPACKET), let output = ProcessChannel.pipe(),
      let errors = ProcessChannel.pipe(), let input = ProcessChannel.input()
    else { throw .noDescriptors }
    try launcher.launch(spec, [channel.theirs, input, output.theirs, errors.theirs])
    (self.folder, self.variables, self.poller) = (folder, variables, poller)
    (self.channel, self.output, self.errors) = (channel.ours, output.ours, errors.ours)
    timeout = (spec.deadline ?? .zero) + Self.reportTimeout
    state.withLock { state in
      state.tokens = [self.channel, self.output, self.errors].map {
        poller.watch($0.number, self)
      }
    }
  }

  var scratch: ScratchFolder { folder.scratch }
  var requests: Int { state.withLock { $0.requests } }
  var isReplaceable: Bool { true }
  var isAlive: Bool { state.withLock { $0.isAlive && !$0.isRetired } }

  /// Runs the plugin once and waits for its end.
  ///
  /// Cancelling the task kills it. The `environment` has been encoded by ``LaunchSpec/encoded(_:)``; `body` is
  /// the standard input, and `response` collects the standard output.
  func run(
    _ environment: [UInt8], body: [UInt8], response: CGIResponseBuffer
  ) async throws(PluginError) -> Outcome {
    let input = body.isEmpty ? nil : ProcessChannel.input(body)
    guard body.isEmpty || input != nil else { throw .noDescriptors }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        change { state in
          begin(&state, Call(response: response, waiter: continuation))
          let sent = clinux_send(
            channel.number, environment, environment.count, input.map { [$0.number] } ?? [],
            input == nil ? 0 : 1)
          if sent != environment.count { return finish(&state, .supervisorLost) }
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

  private func begin(_ state: inout State, _ call: Call) {
    state.requests += 1
    state.isCancelled = Task.isCancelled
    state.onIdleTimeout = nil
    state.call = call
    setDeadline(.now + timeout, state)
    if !state.isAlive { finish(&state, .supervisorLost) }
  }

  private func change(_ body: (inout State) -> Void) {
    let pending = state.withLock { state in
      body(&state)
      return state.pendingResume.take()
    }
    pending?.resume()
  }

  private func setDeadline(_ deadline: ContinuousClock.Instant?, _ state: State) {
    if let token = state.tokens.first { poller.setDeadline(deadline, of: token) }
  }

  /// Kills the process, not the supervisor, whose report then ends the call.
  private func kill() { ControlMessage.kill.send(to: channel) }

  func becomeIdle(
    until deadline: ContinuousClock.Instant, then action: @escaping @Sendable () -> Void
  ) {
    state.withLock { state in
      state.onIdleTimeout = action
      setDeadline(deadline, state)
    }
  }

  func onEnd(_ action: @escaping @Sendable () -> Void) {
    let hasEnded = state.withLock { state in
      if state.isAlive { state.onEnd = action }
      return !state.isAlive
    }
    if hasEnded { action() }
  }

  func retire() { state.withLock { retire(&$0) } }

  private func retire(_ state: inout State) {
    state.isRetired = true
    shutdown(channel.number, Int32(SHUT_WR))
  }

  func descriptorReady(_ descriptor: Int32) {
    if descriptor == output.number { return state.withLock { collectOutput(&$0) } }
    if descriptor == errors.number { return state.withLock { collectErrors(&$0) } }
    var report = [UInt8](repeating: 0, count: 256)
    switch report.withUnsafeMutableBytes(channel.readNow) {
    case .wouldBlock: return
    case .end: supervisorEnded()
    case .bytes(let count): change { finish(&$0, ProcessExit(report: report.prefix(count))) }
    }
  }

  func deadlinePassed() {
    var action: (@Sendable () -> Void)?
    change { state in
      if state.call == nil { action = state.onIdleTimeout } else { finish(&state, .supervisorLost) }
    }
    action?()
  }

  private func supervisorEnded() {
    var action: (@Sendable () -> Void)?
    change { state in
      state.isAlive = false
      finish(&state, .supervisorLost)
      for token in state.tokens { poller.remove(token) }
      state.tokens = []
      action = state.onEnd.take()
    }
    action?()
    Task { [folder] in await folder.remove() }
  }

  private func collectOutput(_ state: inout State) {
    _ = output.drain { piece in
      guard state.call != nil, state.call?.malformation == nil else { return }
      do throws(MalformedOutput) {
        try state.call?.response.append(piece)
      } catch {
        state.call?.malformation = error
        state.call?.response = .none
        kill()
      }
    }
  }

  private func collectErrors(_ state: inout State) {
    _ = errors.drain { piece in
      guard let count = state.call?.standardError.count else { return }
      state.call?.standardError += piece.prefix(StandardError.limit - count)
    }
  }

  private func finish(_ state: inout State, _ exit: ProcessExit) {
    guard state.call != nil else { return }
    collectOutput(&state)
    collectErrors(&state)
    guard let call = state.call.take() else { return }
    setDeadline(nil, state)
    if exit == .supervisorLost { retire(&state) }
    state.pendingResume = PendingResume(
      call.waiter,
      returning: Outcome(
        exit: exit, response: call.response, standardError: call.standardError,
        malformation: call.malformation))
  }
}
