import Primitives
import Synchronization

/// Runs the calls of one version of a plugin: its queue, its processes and its statistics.
final class PluginRuntime: Sendable {
  let plugin: Plugin
  /// Kept from version to version, unlike the rest.
  let statistics: CallStatistics
  let inlineWait: InlineWait
  private let queue: AdmissionQueue
  private let environment: PluginEnvironment
  private let interpreter: ResponseInterpreter
  private let supervisors: ProcessPool<OneShotSupervisor>
  private let residents: ProcessPool<ResidentProcess>

  /// Prepares a runtime that follows the one of the plugin's previous version; no process is started.
  init(_ plugin: Plugin, after former: PluginRuntime?, _ environment: PluginEnvironment) {
    (self.plugin, self.environment) = (plugin, environment)
    statistics = former?.statistics ?? CallStatistics()
    inlineWait = former?.inlineWait ?? InlineWait()
    let configuration = environment.configuration
    interpreter = ResponseInterpreter(
      of: plugin, temporaryFolder: configuration.temporaryFolder)
    queue = AdmissionQueue(
      width: min(plugin.manifest.workers.max ?? .max, configuration.concurrency),
      maximumWaiters: configuration.queueLength, timeout: configuration.queueTimeout)
    var limits = plugin.manifest.workers
    residents = ProcessPool(limits: limits) { () throws(PluginError) in
      try environment.startResident(plugin)
    }
    // A supervisor has no state between calls, so it need not be replaced after a number of them.
    (limits.requests, limits.min) = (.max, 0)
    supervisors = ProcessPool(limits: limits) { () throws(PluginError) in
      try environment.startSupervisor(plugin)
    }
  }

  private var isResident: Bool { plugin.manifest.mode == .fastcgi }

  /// Whether a call is likely to have ended before another thread could have taken it over.
  private var isFast: Bool { isResident && inlineWait.isWorthwhile }

  /// Whether the plugin is fast and has an idle process.
  var answersInline: Bool { isFast && residents.count.idle > 0 }

  /// Waits for admission, then calls the plugin.
  ///
  /// A call is `inline` if ``answersInline`` was true and its thread must not block.
  func reply(
    to call: PluginCall, inline: Bool, _ log: CallLog, _ transcript: Transcript?
  ) async throws(PluginError) -> PluginReply {
    try await admit(call, inline: inline)
    defer { queue.release() }
    let start = ContinuousClock.now
    let isUnbounded = InlineWait.isUnbounded
    let timeout =
      !isResident ? .zero : isUnbounded ? InlineWait.longest : inlineWait.nextTimeout()
    defer { if !isUnbounded { inlineWait.record(.now - start, timeout, inline: inline) } }
    do throws(PluginError) {
      let reply =
        isResident
        ? try await callResident(call, inlineTimeout: timeout, log, transcript)
        : try await callOneShot(call, log, transcript)
      statistics.count(call.verb, .now - start)
      return reply
    } catch {
      statistics.count(call.verb, .now - start, error, output: log.endOfStandardError)
      throw error
    }
  }

  private func admit(_ call: PluginCall, inline: Bool) async throws(PluginError) {
    if inline, queue.tryAdmit() { return }
    do {
      // Half of the slots are left for inline calls. Once all were taken, those would have to wait too,
      // and calls that wait take longer each than inline ones do together.
      try await queue.admit(reserving: isFast ? queue.width / 2 : 0)
    } catch {
      let error = PluginError.busy(
        "The plugin is overloaded; try again later.", cause: "its queue is full")
      statistics.count(call.verb, nil, error)
      throw error
    }
  }

  // MARK: - One-shot calls (CGI)

  /// Calls a plugin by a supervisor, and by another one if the first had ended before it reported anything.
  ///
  /// Then the launcher was killed when it was to start it.
  private func callOneShot(
    _ call: PluginCall, _ log: CallLog, _ transcript: Transcript?
  ) async throws(PluginError) -> PluginReply {
    for isLastAttempt in [false, true] {
      let reply = try await supervisors.withProcess {
        supervisor throws(PluginError) -> PluginReply? in
        let outcome = try await run(call, supervisor, transcript)
        transcript?.recordResponse(outcome.response, outcome.standardError, outcome.exit)
        log.write(standardError: outcome.standardError)
        if outcome.exit == .supervisorLost {
          supervisors.recordFailure()
          let hasBegun = supervisor.requests > 1 || !outcome.response.head.isEmpty
          if !isLastAttempt, !hasBegun { return nil }
        }
        if let malformation = outcome.malformation { throw plugin.failure("\(malformation)") }
        try outcome.exit.check(plugin)
        return try await interpreter.reply(outcome.response, to: call, scratch: supervisor.scratch)
      }
      if let reply { return reply }
    }
    throw plugin.failure("its supervisors ended before they ran it")
  }

  private func run(
    _ call: PluginCall, _ supervisor: OneShotSupervisor, _ transcript: Transcript?
  ) async throws(PluginError) -> OneShotSupervisor.Outcome {
    let link = try AssetLink(call.asset, in: supervisor.folder)
    defer { link.remove() }
    let variables =
      supervisor.variables
      + (try PluginEnvironment.variables(of: call, asset: link.asset, plugin))
    let encoded = try LaunchSpec.encoded(variables)
    transcript?.recordRequest(variables, call.body)
    return try await supervisor.run(encoded, body: call.body, response: interpreter.buffer())
  }

  // MARK: - Resident calls (FastCGI)

  /// Calls a process, and another one if the first ended before a byte of its response.
  private func callResident(
    _ call: PluginCall, inlineTimeout: Duration, _ log: CallLog, _ transcript: Transcript?
  ) async throws(PluginError) -> PluginReply {
    let deadline = ContinuousClock.now + .seconds(plugin.manifest.limits.seconds)
    for isLastAttempt in [false, true] {
      let reply = try await residents.withProcess { process throws(PluginError) -> PluginReply? in
        let outcome = try await send(
          call, to: process, until: deadline, inlineTimeout: inlineTimeout, log, transcript)
        guard let outcome, case .complete(let status, let protocolStatus) = outcome.ending else {
          let exit = await process.kill()
          // A cancelled call is no failure of the process.
          if case .cancelled = outcome?.ending {} else { residents.recordFailure() }
          transcript?.recordResponse(
            outcome?.response ?? .none, outcome?.standardError ?? [], exit)
          log.write(standardError: outcome?.standardError ?? [])
          try checkIncomplete(outcome, exit, isLastAttempt: isLastAttempt)
          return nil
        }
        let exit = ProcessExit.exited(Int(status))
        transcript?.recordResponse(outcome.response, outcome.standardError, exit)
        log.write(standardError: outcome.standardError)
        try check(protocolStatus)
        try exit.check(plugin)
        return try await interpreter.reply(outcome.response, to: call, scratch: process.scratch)
      }
      if let reply { return reply }
    }
    throw plugin.failure("its processes ended before they answered")
  }

  private func send(
    _ call: PluginCall, to process: ResidentProcess, until deadline: ContinuousClock.Instant,
    inlineTimeout: Duration, _ log: CallLog, _ transcript: Transcript?
  ) async throws(PluginError) -> FastCGITransaction.Outcome? {
    let link = try AssetLink(call.asset, in: process.folder)
    defer { link.remove() }
    let variables = try PluginEnvironment.variables(of: call, asset: link.asset, plugin)
    transcript?.recordRequest(process.variables + variables, call.body)
    return await process.send(
      variables, call.body, log, until: deadline, inlineTimeout: inlineTimeout,
      buffer: interpreter.buffer)
  }

  /// Throws unless the request was completed (FastCGI 1.0 section 5.5).
  private func check(_ protocolStatus: UInt8) throws(PluginError) {
    switch protocolStatus {
    case 0: return  // FCGI_REQUEST_COMPLETE
    case 2:  // FCGI_OVERLOADED
      throw .busy("The plugin \(plugin.richType) is overloaded.", cause: "overloaded")
    default:
      throw plugin.failure("it ended the request with protocol status \(protocolStatus)")
    }
  }

  /// Throws the error of a request without a complete response, unless another process may be tried.
  private func checkIncomplete(
    _ outcome: FastCGITransaction.Outcome?, _ exit: ProcessExit, isLastAttempt: Bool
  ) throws(PluginError) {
    switch outcome?.ending {
    case .malformed(let malformation): throw plugin.failure("\(malformation)")
    case .timedOut: try ProcessExit.timedOut.check(plugin)
    case .cancelled: throw plugin.failure("the call was cancelled")
    case .disconnected, .complete, nil:
      if !isLastAttempt, outcome?.hasBegun != true { return }
      if [.stopped, .exited(0)].contains(exit) {
        throw plugin.failure(
          "its process closed the connection before its response was complete")
      }
      try exit.check(plugin)
    }
  }

  // MARK: - Processes

  /// Starts resident processes for `calls` calls that are expected.
  func prestart(calls: Int) {
    if isResident, plugin.problem == nil { residents.prestart(min(calls, queue.width)) }
  }

  /// Starts the minimum of resident processes.
  func fill() {
    if isResident, plugin.problem == nil { residents.fill() }
  }

  /// Ends all processes, those with a call when it has ended.
  func close() {
    supervisors.close()
    residents.close()
  }

  /// The state; `plugin` is the plugin as its folder has it now.
  func status(of plugin: Plugin) -> PluginStatus {
    let (residents, supervisors, queued) = (residents.count, supervisors.count, queue.status)
    return PluginStatus(
      plugin: plugin,
      processes: PluginStatus.Processes(
        idle: residents.idle + supervisors.idle, busy: residents.busy + supervisors.busy,
        maximum: queue.width),
      queue: PluginStatus.Queue(
        running: queued.running, waiting: queued.waiting, rejected: queued.rejected,
        isStalled: queued.isStalled),
      calls: statistics.summary)
  }
}

/// Decides how long a caller waits for a resident process on its own thread, without suspending: a plugin that
/// answers in 50 microseconds does so before another thread could have taken the call over.
package final class InlineWait: Sendable {
  /// Set on threads that may block: they wait for every answer, which saves two changes of threads.
  @TaskLocal package static var isUnbounded = false

  /// The longest wait on such threads.
  static let longest = Duration.milliseconds(50)

  private struct State {
    /// The number of calls that were waited for, and their moving average in microseconds.
    var waits = 0
    var average = 0.0
    /// The number of calls that were not waited for, because previous ones were slow.
    var skipped = 0

    var isFast: Bool { average < InlineWait.bearable }
  }

  /// The longest wait for one call.
  ///
  /// A wait that ended before the kernel's next tick (4 ms) would have to set
  /// the hardware's timer, which costs as much as a fast plugin does.
  private static let timeout = Duration.milliseconds(5)
  /// The longest average, in microseconds, for which a thread that must not block is kept.
  private static let bearable = 400.0
  /// A single slow answer counts as no more than this.
  private static let worst = Duration.milliseconds(1)
  /// After this many calls a slow plugin is tried again: on a busy machine everything is slow at times.
  private static let retryInterval = 256
  /// The weight of the last wait in the average.
  private static let weight = 0.125
  /// The number of waits before the average counts.
  private static let minimumWaits = 4

  private let state = Mutex(State())

  /// Whether the plugin is known to answer before another thread could take over.
  var isWorthwhile: Bool { state.withLock { $0.waits >= Self.minimumWaits && $0.isFast } }

  /// How long to wait for the next answer; zero if the plugin is slow.
  func nextTimeout() -> Duration {
    state.withLock { state in
      if !state.isFast {
        state.skipped += 1
        if state.skipped % Self.retryInterval == 0 { state.average = 0 }
      }
      return state.isFast ? Self.timeout : .zero
    }
  }

  /// Records how long a call took that had this timeout.
  func record(_ duration: Duration, _ timeout: Duration, inline: Bool) {
    guard timeout > .zero else { return }
    let time = Double(min(duration, Self.worst).microseconds)
    state.withLock { state in
      // A call on another thread also waits for a processor. If that counted, a burst of calls would make
      // the plugin look slow, and more calls would go to other threads because of it.
      guard inline || state.waits < Self.minimumWaits || duration >= timeout else { return }
      state.waits += 1
      state.average += (time - state.average) * Self.weight
    }
  }
}
