/// A call answered by a resident worker (FastCGI).
struct ResidentCall: Sendable {
  let plugin: Plugin
  let call: PluginCall
  let pool: WorkerPool
  let workplace: Workplace
  let log: CallLog

  private var verdict: Verdict { Verdict(on: plugin) }

  /// Asks a worker, and once more a fresh one when the first let go before a byte of its reply.
  func reply() async throws(Fault) -> PluginReply {
    let deadline = ContinuousClock.now + .seconds(plugin.manifest.limits.seconds)
    if let reply = try await attempt(until: deadline, isLast: false) { return reply }
    if let reply = try await attempt(until: deadline, isLast: true) { return reply }
    throw verdict.broken("its workers died")
  }

  private func attempt(
    until deadline: ContinuousClock.Instant, isLast: Bool
  ) async throws(Fault) -> PluginReply? {
    let worker: Worker
    do throws(PluginError) {
      worker = try pool.take()
    } catch {
      throw Fault(error: error, cause: error.reason)
    }
    let answer: Result<PluginReply?, Fault>
    do throws(Fault) {
      let outcome = try await ask(worker, until: deadline)
      answer = .success(try await read(outcome, of: worker, isLast: isLast))
    } catch {
      answer = .failure(error)
    }
    await release(worker)
    return try answer.get()
  }

  /// Back to the pool with an empty TMPDIR; a worker that makes that impossible has to go.
  private func release(_ worker: Worker) async {
    guard worker.isAlive else { return }
    if await worker.scratch.empty() {
      pool.giveBack(worker)
    } else {
      worker.retire()
    }
  }

  /// Nil when the worker takes no connection.
  private func ask(
    _ worker: Worker, until deadline: ContinuousClock.Instant
  ) async throws(Fault) -> Exchange.Outcome? {
    let request: [UInt8]
    let loan: AssetLoan
    do throws(PluginError) {
      loan = try AssetLoan(of: call.asset, in: worker.folder.path + "/in")
      var call = call
      call.asset = loan.asset
      let environment = try Environment(
        of: call, plugin: plugin, configuration: workplace.configuration,
        scratch: worker.scratch.path)
      request = Record.request(parameters: environment.variables, body: call.body)
    } catch {
      throw Fault(error: error, cause: error.reason)
    }
    defer { loan.end() }
    guard let connection = worker.connection(for: log) else { return nil }
    return await Exchange(
      request, over: connection, until: deadline, answer: workplace.spool(for: plugin),
      poller: workplace.poller
    ).outcome()
  }

  /// Nil when another worker may be asked.
  private func read(
    _ outcome: Exchange.Outcome?, of worker: Worker, isLast: Bool
  ) async throws(Fault) -> PluginReply? {
    guard let outcome, case .complete(let status, let protocolStatus) = outcome.ending else {
      let ending = await worker.kill()
      pool.lose(worker)
      return try fail(outcome, ending, isLast: isLast)
    }
    log.complain(outcome.complaints)
    if protocolStatus == 2 {
      throw Fault(error: .busy("The plugin \(plugin.richType) is overloaded."), cause: "overloaded")
    }
    guard protocolStatus == 0 else {
      throw verdict.broken("it ended the request with protocol status \(protocolStatus)")
    }
    try verdict.judge(.exited(Int(status)), nil)
    return try AnswerReader(
      plugin: plugin, call: call, scratch: worker.scratch,
      temporaryFolder: workplace.configuration.temporaryFolder
    ).reply(outcome.answer)
  }

  private func fail(
    _ outcome: Exchange.Outcome?, _ ending: Ending, isLast: Bool
  ) throws(Fault) -> PluginReply? {
    switch outcome?.ending {
    case .malformed(let malformation): throw verdict.broken(malformation.reason)
    case .late:
      try verdict.judge(.late, nil)
    case .cancelled: throw verdict.broken("nobody waits any more")
    case .broken, .complete, nil:
      if !isLast, outcome?.hasBegun != true { return nil }
      if ending == .stopped || ending == .exited(0) {
        throw verdict.broken("its worker let go of the connection before its answer was complete")
      }
      try verdict.judge(ending, nil)
    }
    return nil
  }
}
