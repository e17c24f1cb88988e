import Foundation
import Synchronization

/// Runs plugins: finds them, asks them within bounds, and answers for what they do.
package final class PluginHost: Sendable {
  private let configuration: PluginConfiguration
  private let folder: PluginFolder
  private let forker: Forker
  private let poller: Poller
  private let gates = Mutex<[String: Gate]>([:])

  /// Prepares a host; no plugin is run and no process is started until the first call.
  ///
  /// - Throws: ``PluginError`` 503 when the process has no descriptors left.
  package init(configuration: PluginConfiguration) throws(PluginError) {
    var configuration = configuration
    configuration.folder = PluginHost.absolute(configuration.folder)
    configuration.binaries = configuration.binaries.map(PluginHost.absolute)
    configuration.launcher = PluginHost.absolute(configuration.launcher)
    configuration.temporaryFolder = PluginHost.absolute(configuration.temporaryFolder)
    guard let poller = Poller() else {
      throw .busy("The server has no descriptors left for plugins.")
    }
    self.configuration = configuration
    self.poller = poller
    folder = PluginFolder(
      path: configuration.folder, binaries: configuration.binaries,
      ceiling: configuration.ceiling)
    forker = Forker(launcher: configuration.launcher)
  }

  deinit {
    forker.stop()
    poller.close()
  }

  /// The plugin of a rich type as it is at this moment; nil when there is none of that exact name.
  package func plugin(_ richType: String) -> Plugin? {
    folder.plugin(richType)
  }

  /// All plugins by name; one that cannot be used says so in its `problem`.
  package func plugins() -> [Plugin] {
    folder.plugins()
  }

  /// Asks a plugin and waits for its whole answer.
  ///
  /// - Parameter call: The question; its task may be cancelled, which kills the plugin.
  /// - Returns: The answer, checked against the contract; a file in it goes with the reply.
  /// - Throws: ``PluginError`` with the status the event table gives; the cause is in the log.
  package func respond(to call: PluginCall) async throws(PluginError) -> PluginReply {
    guard let plugin = plugin(call.richType) else {
      throw PluginError(status: 404, reason: "There is no plugin for \"\(call.richType)\".")
    }
    do throws(Fault) {
      if let problem = plugin.problem { throw Verdict(on: plugin).broken(problem) }
      guard plugin.manifest.verbs.contains(call.verb) else {
        return try UnansweredVerb(plugin: plugin, call: call).reply()
      }
      return try await ask(plugin, call)
    } catch {
      log(error, call)
      throw error.error
    }
  }

  private func ask(_ plugin: Plugin, _ call: PluginCall) async throws(Fault) -> PluginReply {
    let gate = gate(for: plugin)
    do throws(PluginError) {
      try await gate.enter()
    } catch {
      throw Fault(error: error, cause: "its queue is full")
    }
    defer { gate.leave() }
    guard let scratch = ScratchFolder(in: configuration.temporaryFolder) else {
      throw Fault(
        error: .busy("The server cannot make a temporary folder."),
        cause: "no folder can be made in \(configuration.temporaryFolder)")
    }
    let answer: Result<PluginReply, Fault>
    do throws(Fault) {
      answer = .success(try await askOnce(plugin, call, scratch))
    } catch {
      answer = .failure(error)
    }
    await scratch.remove()
    return try answer.get()
  }

  private func askOnce(
    _ plugin: Plugin, _ call: PluginCall, _ scratch: ScratchFolder
  ) async throws(Fault) -> PluginReply {
    let limits = plugin.manifest.limits
    let process: OneShot
    do throws(PluginError) {
      let environment = try Environment(
        of: call, plugin: plugin, configuration: configuration, scratch: scratch.path)
      let order = Order(
        program: plugin.executable, folder: plugin.folder, deadline: .seconds(limits.seconds),
        memoryMiB: limits.memoryMiB, cpuSeconds: limits.seconds + 1,
        fileMiB: limits.outputMiB, environment: environment.variables)
      process = try OneShot(
        order, body: call.body,
        answer: AnswerSpool(limit: limits.outputMiB << 20, folder: configuration.temporaryFolder),
        forker: forker, poller: poller)
    } catch {
      throw Fault(error: error, cause: error.reason)
    }
    let outcome = await process.outcome()
    complain(outcome.complaints, call)
    try Verdict(on: plugin).judge(outcome.ending, outcome.malformation)
    return try AnswerReader(
      plugin: plugin, call: call, scratch: scratch,
      temporaryFolder: configuration.temporaryFolder
    ).reply(outcome.answer)
  }

  private func gate(for plugin: Plugin) -> Gate {
    let places = min(plugin.manifest.workers.max ?? .max, configuration.concurrency)
    return gates.withLock { gates in
      if let gate = gates[plugin.richType], gate.places == places { return gate }
      let gate = Gate(
        places: places, queueLength: configuration.queueLength,
        patience: configuration.queuePatience)
      gates[plugin.richType] = gate
      return gate
    }
  }

  private func log(_ fault: Fault, _ call: PluginCall) {
    configuration.log("\(PluginHost.subject(of: call)): \(fault.error.status), \(fault.cause)")
  }

  private func complain(_ bytes: [UInt8], _ call: PluginCall) {
    for line in String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline) {
      configuration.log("\(PluginHost.subject(of: call)) says: \(line)")
    }
  }

  private static func subject(of call: PluginCall) -> String {
    let id = call.id.map { ", notification \($0)" } ?? ""
    return "plugin \(call.richType), \(call.verb.rawValue)\(id)"
  }

  private static func absolute(_ path: String) -> String {
    URL(fileURLWithPath: path).standardizedFileURL.path
  }
}
