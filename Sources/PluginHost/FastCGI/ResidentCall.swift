/// A call answered by a resident worker (FastCGI).
struct ResidentCall: Sendable {
  let plugin: Plugin
  let heads: LastHead
  let call: PluginCall
  let pool: Pool<Worker>
  let workplace: Workplace
  let log: CallLog
  let transcript: Transcript?
  /// How long to wait for the worker on the thread that asks.
  let patience: Duration

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
    await pool.release(worker)
    return try answer.get()
  }

  /// Nil when the worker takes no connection.
  private func ask(
    _ worker: Worker, until deadline: ContinuousClock.Instant
  ) async throws(Fault) -> Exchange.Outcome? {
    let environment: Environment
    let loan: AssetLoan
    do throws(PluginError) {
      loan = try AssetLoan(of: call.asset, to: worker.folder)
      environment = try Environment(of: call, asset: loan.asset, plugin: plugin)
    } catch {
      throw Fault(error: error, cause: error.reason)
    }
    defer { loan.end() }
    let id = worker.begin(log)
    let request = Record.request(
      id, lasting: worker.parameters, environment.variables, body: call.body,
      isKept: worker.keepsConnections)
    transcript?.ask(worker.environment + environment.variables, call.body)
    if let kept = worker.keptConnection() {
      let outcome = await send(request, id, over: kept, of: worker, until: deadline)
      // It may have let go of the connection, which says nothing about itself.
      guard case .broken = outcome.ending, !outcome.hasBegun else { return outcome }
      worker.letGo()
    }
    guard let connection = worker.newConnection() else { return nil }
    return await send(request, id, over: connection, of: worker, until: deadline)
  }

  private func send(
    _ request: [UInt8], _ id: UInt16, over connection: Connection, of worker: Worker,
    until deadline: ContinuousClock.Instant
  ) async -> Exchange.Outcome {
    let outcome = await Exchange(
      request, id, over: connection, isKept: worker.keepsConnections, until: deadline,
      patience: patience, answer: workplace.spool(for: plugin), poller: workplace.poller
    ).outcome()
    if case .complete = outcome.ending, let connection = outcome.connection {
      worker.keep(connection)
    }
    return outcome
  }

  /// Nil when another worker may be asked.
  private func read(
    _ outcome: Exchange.Outcome?, of worker: Worker, isLast: Bool
  ) async throws(Fault) -> PluginReply? {
    guard let outcome, case .complete(let status, let protocolStatus) = outcome.ending else {
      let ending = await worker.kill()
      // That nobody waits any more is not its fault.
      if case .cancelled = outcome?.ending {} else { pool.lose() }
      transcript?.answer(
        outcome?.answer ?? workplace.spool(for: plugin), outcome?.complaints ?? [],
        ending.sentence)
      return try fail(outcome, ending, isLast: isLast)
    }
    transcript?.answer(
      outcome.answer, outcome.complaints, Ending.exited(Int(status)).sentence)
    log.complain(outcome.complaints)
    if protocolStatus == 2 {
      throw Fault(error: .busy("The plugin \(plugin.richType) is overloaded."), cause: "overloaded")
    }
    guard protocolStatus == 0 else {
      throw verdict.broken("it ended the request with protocol status \(protocolStatus)")
    }
    try verdict.judge(.exited(Int(status)), nil)
    return try await AnswerReader(
      plugin: plugin, heads: heads, call: call, scratch: worker.scratch,
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
