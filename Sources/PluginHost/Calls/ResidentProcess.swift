import CLinux
import Glibc
import Primitives
import Synchronization

/// A process of a plugin that answers many requests (FastCGI), with a listening socket as its descriptor 0.
///
/// It has one request at a time. What it writes to its standard streams goes to the log.
final class ResidentProcess: PooledProcess, PollHandler {
  private struct State {
    var requests = 0
    var log: CallLog
    var loggedBytes = 0
    var hasCall = false
    var exit: ProcessExit?
    var exitWaiters: [CheckedContinuation<ProcessExit, Never>] = []
    var statusToken: Poller.Token?
    var errorsToken: Poller.Token?
    var onEnd: (@Sendable () -> Void)?
    /// The action for the end of the idle time, and the times when it begins and ends.
    var onIdleTimeout: (@Sendable () -> Void)?
    var idleStart = ContinuousClock.now
    var idleEnd = ContinuousClock.now
    /// Whether the poller will call ``deadlinePassed()``.
    var hasTimer = false
    /// Whether the supervisor knows that it is idle, and limits its processor time.
    var isIdle = true
    /// The connection of the previous request.
    var kept: FastCGIConnection?
    /// Whether requests ask it to keep connections open: until it closes one.
    var keepsConnections = true
  }

  /// After a call a process may finish its work for this long before it counts as idle.
  private static let idleDelay = Duration.seconds(2)

  let folder: ProcessFolder
  /// The variables that are the same for each request, and the same encoded.
  let variables: PluginEnvironment.Variables
  private let parameters: [UInt8]
  private let status: FileDescriptor
  private let errors: FileDescriptor
  private let poller: Poller
  private let state: Mutex<State>

  /// Starts a process with an empty folder of its own.
  ///
  /// The `variables` are the same for each request; `log` takes its lines until it has one.
  ///
  /// - Throws: ``PluginError/Code/busy`` if no process can be started or no descriptors are left.
  init(
    _ spec: LaunchSpec, in folder: ProcessFolder, variables: PluginEnvironment.Variables,
    _ log: CallLog, _ launcher: PluginLauncher, _ poller: Poller
  ) throws(PluginError) {
    guard let status = ProcessChannel.sockets(SOCK_STREAM), let errors = ProcessChannel.pipe(),
      let listener = UnixSocket.listener(in: folder.path)
    else { throw .noDescriptors }
    try launcher.launch(spec, [status.theirs, listener, errors.theirs, errors.theirs])
    (self.folder, self.variables, self.poller) = (folder, variables, poller)
    parameters = FastCGIRecord.encode(variables)
    (self.status, self.errors) = (status.ours, errors.ours)
    state = Mutex(State(log: log))
    state.withLock { state in
      state.statusToken = poller.watch(self.status.number, self)
      state.errorsToken = poller.watch(self.errors.number, self)
    }
  }

  var scratch: ScratchFolder { folder.scratch }
  var requests: Int { state.withLock { $0.requests } }
  var isAlive: Bool { state.withLock { $0.exit == nil } }

  /// False if it was killed for working between calls: its successor would do the same.
  var isReplaceable: Bool { state.withLock { $0.exit != .tooMuchIdleCPUTime } }

  // MARK: - Requests

  /// Sends a request and waits for the response.
  ///
  /// The request has `variables` of its own; `log` takes the lines that the process writes from now on. The
  /// calling thread waits itself for the `inlineTimeout`. `buffer` makes the buffer of a response.
  ///
  /// - Returns: Nil if the process accepts no connection.
  func send(
    _ variables: PluginEnvironment.Variables, _ body: [UInt8], _ log: CallLog,
    until deadline: ContinuousClock.Instant, inlineTimeout: Duration,
    buffer: () -> CGIResponseBuffer
  ) async -> FastCGITransaction.Outcome? {
    let (id, kept) = beginRequest(log)
    let request = records(id, variables, body)
    func transact(over connection: FastCGIConnection) async -> FastCGITransaction.Outcome {
      let outcome = await FastCGITransaction(
        request, id, over: connection, keepsConnection: keepsConnections, until: deadline,
        inlineTimeout: inlineTimeout, response: buffer(), poller
      ).outcome()
      if case .complete = outcome.ending, let connection = outcome.connection {
        state.withLock { if $0.keepsConnections { $0.kept = connection } }
      }
      return outcome
    }
    if let kept {
      let outcome = await transact(over: kept)
      // A process may close a connection between requests although it was asked to keep it.
      guard case .disconnected = outcome.ending, !outcome.hasBegun else { return outcome }
      state.withLock { $0.keepsConnections = false }
    }
    guard let socket = UnixSocket.connection(in: folder.path) else { return nil }
    return await transact(over: FastCGIConnection(socket: socket))
  }

  private var keepsConnections: Bool { state.withLock { $0.keepsConnections } }

  /// The number of a new request, 1 to 65535, and the connection of the previous one, if it is open.
  private func beginRequest(_ log: CallLog) -> (id: UInt16, kept: FastCGIConnection?) {
    state.withLock { state in
      // A number is used again only after all others, so that a late response is recognised.
      let id = UInt16(state.requests % 0xFFFF + 1)
      state.requests += 1
      (state.log, state.loggedBytes) = (log, 0)
      state.hasCall = true
      state.onIdleTimeout = nil
      if state.isIdle {
        // The timer may be a minute away; the next idle time needs one of its own.
        (state.isIdle, state.hasTimer) = (false, false)
        ControlMessage.busy.send(to: status)
      }
      return (id, state.kept.take())
    }
  }

  private func records(
    _ id: UInt16, _ variables: PluginEnvironment.Variables, _ body: [UInt8]
  ) -> [UInt8] {
    let parameters = FastCGIRecord.encode(variables, after: parameters)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(parameters.count + body.count + 64)
    // The role of a responder, and FCGI_KEEP_CONN (section 5.1).
    let begin: [UInt8] = [0, 1, keepsConnections ? 1 : 0, 0, 0, 0, 0, 0]
    FastCGIRecord.append(.beginRequest, requestID: id, begin[...], to: &bytes)
    FastCGIRecord.appendStream(.parameters, requestID: id, parameters[...], to: &bytes)
    FastCGIRecord.appendStream(.input, requestID: id, body[...], to: &bytes)
    return bytes
  }

  // MARK: - Idle time

  func becomeIdle(
    until deadline: ContinuousClock.Instant, then action: @escaping @Sendable () -> Void
  ) {
    state.withLock { state in
      (state.onIdleTimeout, state.idleEnd) = (action, deadline)
      state.idleStart = .now + Self.idleDelay
      state.hasCall = false
      setTimer(&state)
    }
  }

  /// A timer that is set stays as it is, so that a busy process costs the poller nothing: when it fires,
  /// the times tell whether there was a call meanwhile.
  private func setTimer(_ state: inout State) {
    guard let token = state.statusToken, !state.hasTimer else { return }
    state.hasTimer = true
    poller.setDeadline(
      state.isIdle ? state.idleEnd : min(state.idleStart, state.idleEnd), of: token)
  }

  func deadlinePassed() {
    let action = state.withLock { state -> (@Sendable () -> Void)? in
      state.hasTimer = false
      if state.onIdleTimeout == nil { return nil }
      if state.idleStart <= .now, !state.isIdle {
        state.isIdle = true
        ControlMessage.idle.send(to: status)
      }
      if state.idleEnd <= .now { return state.onIdleTimeout }
      setTimer(&state)
      return nil
    }
    action?()
  }

  // MARK: - End

  func onEnd(_ action: @escaping @Sendable () -> Void) {
    let hasEnded = state.withLock { state in
      if state.exit == nil { state.onEnd = action }
      return state.exit != nil
    }
    if hasEnded { action() }
  }

  /// Sends SIGTERM, and SIGKILL after the grace period.
  func retire() { shutdown(status.number, Int32(SHUT_WR)) }

  /// Kills it with all its descendants, and returns how it ended.
  func kill() async -> ProcessExit {
    ControlMessage.kill.send(to: status)
    return await withCheckedContinuation { continuation in
      let exit = state.withLock { state in
        if state.exit == nil { state.exitWaiters.append(continuation) }
        return state.exit
      }
      if let exit { continuation.resume(returning: exit) }
    }
  }

  func descriptorReady(_ descriptor: Int32) {
    if descriptor == errors.number { return logErrors() }
    let exit = ProcessExit(report: (try? status.readSome(limit: 4096)) ?? [])
    let (log, waiters, action) = state.withLock { state in
      state.exit = exit
      for token in [state.statusToken, state.errorsToken] { token.map(poller.remove) }
      (state.statusToken, state.errorsToken) = (nil, nil)
      defer { (state.exitWaiters, state.onEnd, state.kept) = ([], nil, nil) }
      return (state.log, state.exitWaiters, state.onEnd)
    }
    logErrors()
    action?()
    if exit == .tooMuchIdleCPUTime { log.write("its process was killed: it \(exit.sentence)") }
    for waiter in waiters { waiter.resume(returning: exit) }
    Task { [folder] in await folder.remove() }
  }

  private func logErrors() {
    var text: [UInt8] = []
    let isAtEnd = errors.drain { text += $0 }
    let (log, isFlooding) = state.withLock { state in
      text = Array(text.prefix(StandardError.limit - state.loggedBytes))
      state.loggedBytes += text.count
      let isFlooding =
        state.exit == nil && !state.hasCall && state.loggedBytes == StandardError.limit
      if isAtEnd || isFlooding, let token = state.errorsToken.take() { poller.remove(token) }
      return (state.log, isFlooding)
    }
    log.write(standardError: text)
    guard isFlooding else { return }
    log.write("its process was ended: it writes without end although it has no call")
    ControlMessage.kill.send(to: status)
  }
}
