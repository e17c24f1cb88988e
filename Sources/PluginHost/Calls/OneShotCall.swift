/// A call answered by a process of its own (CGI).
struct OneShotCall: Sendable {
  let plugin: Plugin
  let heads: LastHead
  let call: PluginCall
  let pool: Pool<Spawner>
  let workplace: Workplace
  let log: CallLog
  let transcript: Transcript?

  /// Runs the process and reads its answer.
  func reply() async throws(Fault) -> PluginReply {
    let spawner: Spawner
    do throws(PluginError) {
      spawner = try pool.take()
    } catch {
      throw Fault(error: error, cause: error.reason)
    }
    let answer: Result<PluginReply, Fault>
    do throws(Fault) {
      answer = .success(try await reply(with: spawner))
    } catch {
      answer = .failure(error)
    }
    await pool.release(spawner)
    return try answer.get()
  }

  private func reply(with spawner: Spawner) async throws(Fault) -> PluginReply {
    let outcome: Spawner.Outcome
    do throws(PluginError) {
      outcome = try await run(with: spawner)
    } catch {
      throw Fault(error: error, cause: error.reason)
    }
    transcript?.answer(outcome.answer, outcome.complaints, outcome.ending.sentence)
    log.complain(outcome.complaints)
    if outcome.ending == .lost { pool.lose() }
    try Verdict(on: plugin).judge(outcome.ending, outcome.malformation)
    return try await AnswerReader(
      plugin: plugin, heads: heads, call: call, scratch: spawner.scratch,
      temporaryFolder: workplace.configuration.temporaryFolder
    ).reply(outcome.answer)
  }

  private func run(with spawner: Spawner) async throws(PluginError) -> Spawner.Outcome {
    let loan = try AssetLoan(of: call.asset, to: spawner.folder)
    defer { loan.end() }
    let environment = try Environment(of: call, asset: loan.asset, plugin: plugin)
    let variables =
      workplace.environment(of: plugin, scratch: spawner.scratch.path) + environment.variables
    guard let words = Order.encoded(variables) else { throw .tooLong }
    transcript?.ask(variables, call.body)
    return try await spawner.run(words, body: call.body, answer: workplace.spool(for: plugin))
  }
}
