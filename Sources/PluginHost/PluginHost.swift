import Foundation
import Synchronization

/// Runs plugins: finds them, asks them within bounds, and answers for what they do.
package final class PluginHost: Sendable {
  private let workplace: Workplace
  private let folder: PluginFolder
  private let gates = Mutex<[String: Gate]>([:])
  private let pools = Mutex<[String: WorkerPool]>([:])

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
    workplace = Workplace(
      configuration: configuration, forker: Forker(launcher: configuration.launcher),
      poller: poller)
    workplace.tidy()
    folder = PluginFolder(
      path: configuration.folder, binaries: configuration.binaries,
      ceiling: configuration.ceiling)
  }

  deinit {
    workplace.forker.stop()
    workplace.poller.close()
  }

  /// The plugin of a rich type as it is at this moment; nil when there is none of that exact name.
  package func plugin(_ richType: String) -> Plugin? {
    folder.plugin(richType)
  }

  /// All plugins by name; one that cannot be used says so in its `problem`.
  package func plugins() -> [Plugin] {
    folder.plugins()
  }

  /// How well plugins are shut in here; starts the launcher to ask it.
  ///
  /// - Returns: What was asked for and what the kernel has.
  /// - Throws: ``PluginError`` 503 when the launcher cannot be started.
  package func sandboxReport() throws(PluginError) -> SandboxReport {
    let line = try workplace.forker.sandbox()
    let level = workplace.configuration.sandbox
    guard let report = SandboxReport(level: level, launcherSays: line) else {
      throw .busy("The launcher of plugins is of another version.")
    }
    return report
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
    let log = CallLog(call: call, write: workplace.configuration.log)
    do throws(Fault) {
      if let problem = plugin.problem { throw Verdict(on: plugin).broken(problem) }
      guard plugin.manifest.verbs.contains(call.verb) else {
        return try UnansweredVerb(plugin: plugin, call: call).reply()
      }
      return try await ask(plugin, call, log)
    } catch {
      log.fail(error)
      throw error.error
    }
  }

  private func ask(
    _ plugin: Plugin, _ call: PluginCall, _ log: CallLog
  ) async throws(Fault) -> PluginReply {
    let gate = gate(for: plugin)
    do throws(PluginError) {
      try await gate.enter()
    } catch {
      throw Fault(error: error, cause: "its queue is full")
    }
    defer { gate.leave() }
    switch plugin.manifest.mode {
    case .cgi:
      return try await OneShotCall(plugin: plugin, call: call, workplace: workplace, log: log)
        .reply()
    case .fastcgi:
      return try await ResidentCall(
        plugin: plugin, call: call, pool: pool(for: plugin, log), workplace: workplace, log: log
      ).reply()
    }
  }

  private func gate(for plugin: Plugin) -> Gate {
    let configuration = workplace.configuration
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

  private func pool(for plugin: Plugin, _ log: CallLog) -> WorkerPool {
    let (pool, former) = pools.withLock { pools -> (WorkerPool, WorkerPool?) in
      let former = pools[plugin.richType]
      if let former, former.identity == plugin.identity { return (former, nil) }
      let pool = WorkerPool(plugin: plugin) { [workplace] () throws(PluginError) in
        try workplace.worker(of: plugin, log)
      }
      pools[plugin.richType] = pool
      return (pool, former)
    }
    former?.close()
    return pool
  }

  private static func absolute(_ path: String) -> String {
    URL(fileURLWithPath: path).standardizedFileURL.path
  }
}
