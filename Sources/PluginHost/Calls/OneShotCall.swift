/// A call answered by a process of its own (CGI).
struct OneShotCall: Sendable {
  let plugin: Plugin
  let call: PluginCall
  let workplace: Workplace
  let log: CallLog

  /// Runs the process and reads its answer.
  func reply() async throws(Fault) -> PluginReply {
    let scratch = try workplace.scratch()
    let answer: Result<PluginReply, Fault>
    do throws(Fault) {
      answer = .success(try await reply(with: scratch))
    } catch {
      answer = .failure(error)
    }
    await scratch.remove()
    return try answer.get()
  }

  private func reply(with scratch: ScratchFolder) async throws(Fault) -> PluginReply {
    let process: OneShot
    do throws(PluginError) {
      process = try OneShot(
        order(with: scratch), body: call.body, answer: workplace.spool(for: plugin),
        forker: workplace.forker, poller: workplace.poller)
    } catch {
      throw Fault(error: error, cause: error.reason)
    }
    let outcome = await process.outcome()
    log.complain(outcome.complaints)
    try Verdict(on: plugin).judge(outcome.ending, outcome.malformation)
    return try AnswerReader(
      plugin: plugin, call: call, scratch: scratch,
      temporaryFolder: workplace.configuration.temporaryFolder
    ).reply(outcome.answer)
  }

  private func order(with scratch: ScratchFolder) throws(PluginError) -> Order {
    let limits = plugin.manifest.limits
    return Order(
      program: plugin.executable, folder: plugin.folder, deadline: .seconds(limits.seconds),
      memoryMiB: limits.memoryMiB, cpuSeconds: limits.seconds + 1, fileMiB: limits.outputMiB,
      spaceMiB: Order.spaceMiB(for: limits),
      sandbox: workplace.sandbox(
        for: plugin, own: call.asset.map { [$0.path] } ?? [], writable: scratch.path),
      environment: try Environment(
        of: call, plugin: plugin, configuration: workplace.configuration, scratch: scratch.path
      ).variables)
  }
}
