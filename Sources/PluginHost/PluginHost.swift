import Dispatch
import Foundation
import Synchronization

/// Runs plugins: finds them, asks them within bounds, and answers for what they do.
package final class PluginHost: Sendable {
  private let workplace: Workplace
  private let folder: PluginFolder
  private let services = Mutex<[String: Service]>([:])
  private let attention = Mutex(Attention())
  private let changeCount = Atomic(0)

  /// Whether changes in the folder are acted on before anybody asks.
  private struct Attention {
    var isPaid = false
    var isDue = false
  }

  /// Prepares a host; no plugin is run and no process is started until the first call.
  ///
  /// - Parameters:
  ///   - configuration: Where plugins are and what they may use.
  ///   - launcher: One that runs already; nil starts one with the first call.
  /// - Throws: ``PluginError`` 503 when the process has no descriptors left.
  package init(
    configuration: PluginConfiguration, launcher: PluginLauncher? = nil
  ) throws(PluginError) {
    var configuration = configuration
    configuration.folder = PluginHost.absolute(configuration.folder)
    configuration.binaries = configuration.binaries.map(PluginHost.absolute)
    configuration.launcher = PluginHost.absolute(configuration.launcher)
    configuration.temporaryFolder = PluginHost.absolute(configuration.temporaryFolder)
    configuration.scratchFolder = PluginHost.absolute(configuration.scratchFolder)
    guard let poller = Poller() else {
      throw .busy("The server has no descriptors left for plugins.")
    }
    workplace = Workplace(
      configuration: configuration,
      forker: launcher?.forker ?? Forker(configuration),
      users: PluginUsers(range: configuration.uids, scratchFolder: configuration.scratchFolder),
      poller: poller)
    try workplace.makeScratchFolder()
    workplace.tidy()
    folder = PluginFolder(
      path: configuration.folder, binaries: configuration.binaries,
      ceiling: configuration.ceiling)
    if let queue = folder.watch.queue { _ = poller.watch(queue.number, FolderWatcher(host: self)) }
  }

  deinit {
    workplace.forker.stop()
    workplace.poller.close()
  }

  /// The plugin of a rich type as it is at this moment; nil when there is none of that exact name.
  package func plugin(_ richType: String) -> Plugin? {
    folder.plugin(richType)
  }

  /// How many changes of the plugins' folder were heard of: as long as it stays, so do the plugins, but
  /// for what is changed from another machine.
  package var changes: Int { changeCount.load(ordering: .relaxed) }

  /// All plugins by name; one that cannot be used says so in its `problem`.
  package func plugins() -> [Plugin] {
    folder.plugins()
  }

  /// How well plugins are shut in here; starts the launcher to ask it.
  ///
  /// - Returns: What was asked for and what the kernel has.
  /// - Throws: ``PluginError`` 503 when the launcher cannot be started.
  package func sandboxReport() throws(PluginError) -> SandboxReport {
    try workplace.sandboxReport()
  }

  /// What a plugin is shut in by at this moment, in one line.
  ///
  /// - Throws: ``PluginError`` 503 when the launcher cannot be started.
  package func confinement(of plugin: Plugin) throws(PluginError) -> String {
    try sandboxReport().confinement(of: try workplace.user(of: plugin))
  }

  /// What some of the plugins can do although they should not, each in one sentence.
  ///
  /// - Throws: ``PluginError`` 503 when the launcher cannot be started.
  package func gaps() throws(PluginError) -> [String] {
    let report = try sandboxReport()
    var users = [report.uids ? PluginUser.own(0) : .server("")]
    for plugin in plugins() where plugin.problem == nil { users.append(try workplace.user(of: plugin)) }
    var gaps: [String] = []
    for gap in users.flatMap(report.gaps) where !gaps.contains(gap) { gaps.append(gap) }
    return gaps
  }

  /// The first of these files and folders that plugins may read, with what lets them; nil when there is none.
  ///
  /// - Parameter paths: What only the server shall read.
  /// - Throws: ``PluginError`` 503 when the launcher cannot be started.
  package func exposed(_ paths: [String]) throws(PluginError) -> (path: String, below: String)? {
    let configuration = workplace.configuration
    let readable =
      try sandboxReport().readable + configuration.readable + SharedLibraries.folders
      + plugins().flatMap(\.roots)
    for path in paths.map(Self.resolved) {
      for folder in readable.map(Self.resolved) where path == folder || path.hasPrefix(folder + "/") {
        return (path, folder)
      }
    }
    return nil
  }

  private static func resolved(_ path: String) -> String {
    URL(fileURLWithPath: path).resolvingSymlinksInPath().standardizedFileURL.path
  }

  /// Starts the workers that manifests want ready (`workers.min`), before anybody asks.
  ///
  /// From then on the same is done for a plugin that comes, and the processes of one that goes end.
  package func warmUp() {
    attention.withLock { $0.isPaid = true }
    for plugin in folder.plugins() where plugin.manifest.workers.min > 0 { _ = service(of: plugin) }
  }

  /// Starts workers for so many calls that are about to come: they are ready by then.
  package func prepare(_ richType: String, calls: Int) {
    if let plugin = plugin(richType) { service(of: plugin).prepare(calls) }
  }

  /// How each plugin fares, by name.
  package func status() -> [PluginStatus] {
    folder.plugins().map { plugin in
      services.withLock { $0[plugin.richType] }?.status(of: plugin)
        ?? PluginStatus(plugin: plugin, processes: .init(), queue: .init(), calls: .init())
    }
  }

  /// Asks a plugin and waits for its whole answer.
  ///
  /// - Parameters:
  ///   - call: The question; its task may be cancelled, which kills the plugin.
  ///   - atOnce: Whether ``answersAtOnce(_:)`` was asked, and others wait for this thread.
  ///   - transcript: Takes down what goes there and back.
  /// - Returns: The answer, checked against the contract; a file in it goes with the reply.
  /// - Throws: ``PluginError`` with the status the event table gives; the cause is in the log.
  package func respond(
    to call: PluginCall, atOnce: Bool = false, transcript: Transcript? = nil
  ) async throws(PluginError) -> PluginReply {
    guard let plugin = plugin(call.richType) else {
      throw PluginError(status: 404, reason: "There is no plugin for \"\(call.richType)\".")
    }
    let log = CallLog(call: call, write: workplace.configuration.log)
    let service = service(of: plugin)
    do throws(Fault) {
      if let problem = plugin.problem {
        let fault = Verdict(on: plugin).broken(problem)
        service.timings.count(call.verb, nil, fault)
        throw fault
      }
      guard plugin.manifest.verbs.contains(call.verb) else {
        return try UnansweredVerb(plugin: plugin, call: call).reply()
      }
      return try await service.reply(to: call, atOnce: atOnce, log, transcript)
    } catch {
      log.fail(error)
      throw error.error
    }
  }

  /// Whether a plugin is known to answer a call of its in less time than it takes to change threads,
  /// and has a process that is idle: then ``respond(to:atOnce:transcript:)`` may be begun on a thread that
  /// others wait for (`Task.immediate`), and keeps it no longer than five milliseconds.
  package func answersAtOnce(_ plugin: Plugin) -> Bool {
    services.withLock { $0[plugin.richType] }?.answersAtOnce ?? false
  }

  /// Notes that something in the folder has changed; what it means is found out a moment later, when
  /// all of it is there.
  func folderHasChanged() {
    folder.watch.settle()
    changeCount.add(1, ordering: .relaxed)
    let isFirst = attention.withLock { attention in
      defer { attention.isDue = attention.isPaid }
      return attention.isPaid && !attention.isDue
    }
    guard isFirst else { return }
    DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + .milliseconds(100)) {
      [weak self] in self?.followChanges()
    }
  }

  private func followChanges() {
    attention.withLock { $0.isDue = false }
    let names = Set(folder.plugins().map(\.richType))
    let gone = services.withLock { services in
      let gone = services.filter { !names.contains($0.key) }
      for name in gone.keys { services[name] = nil }
      return gone.values
    }
    for service in gone { service.close() }
    warmUp()
  }

  /// What is kept for a plugin as it is now; that of another version is let go.
  private func service(of plugin: Plugin) -> Service {
    let (service, former) = services.withLock { services -> (Service, Service?) in
      let former = services[plugin.richType]
      if let former, former.plugin == plugin { return (former, nil) }
      let service = Service(plugin, timings: former?.timings ?? Timings(), workplace: workplace)
      services[plugin.richType] = service
      service.fill()
      return (service, former)
    }
    former?.close()
    return service
  }

  private static func absolute(_ path: String) -> String {
    URL(fileURLWithPath: path).standardizedFileURL.path
  }
}
