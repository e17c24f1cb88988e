import Dispatch
import FoundationEssentials
import Primitives
import Synchronization

/// Finds plugins and calls them, within limits and isolated from the server.
package final class PluginHost: Sendable {
  let environment: PluginEnvironment
  private let folder: PluginFolder
  private let runtimes = Mutex<[String: PluginRuntime]>([:])
  private let watching = Mutex(Watching())
  /// The problems already logged, by rich type.
  private let loggedProblems = Mutex<[String: String]>([:])

  private struct Watching {
    /// Whether changes are handled at once, and not only when a call needs the plugin.
    var isOn = false
    var isScheduled = false
  }

  /// Changes within this time are handled together, because an editor writes several files.
  private static let changeDelay = DispatchTimeInterval.milliseconds(100)

  /// Prepares a host; no plugin is started before the first call.
  ///
  /// Without a `launcher` that runs already it starts one, so it is to be called while few descriptors are open.
  ///
  /// - Throws: ``PluginError/Code/busy`` if the launcher cannot be started, or no descriptors are left.
  package init(
    configuration: PluginConfiguration, launcher: PluginLauncher? = nil
  ) throws(PluginError) {
    let configuration = configuration.withAbsolutePaths
    environment = try PluginEnvironment(configuration, launcher)
    folder = PluginFolder(configuration)
    if let queue = folder.changeQueue {
      _ = environment.poller.watch(queue.number, FolderChangeHandler(host: self))
    }
  }

  private final class FolderChangeHandler: PollHandler {
    private weak let host: PluginHost?
    init(host: PluginHost) { self.host = host }
    func descriptorReady(_ descriptor: Int32) { host?.noticeChanges() }
    func deadlinePassed() {}
  }

  deinit {
    environment.launcher.stop()
    environment.poller.close()
  }

  // MARK: - Plugins

  /// The plugin of a rich type as its files are now; nil if there is none of exactly this name.
  ///
  /// May wait for the disk.
  package func plugin(_ richType: String) -> Plugin? {
    noticeChanges()
    return folder.plugin(richType)
  }

  /// All plugins by name; one that cannot be used has a ``Plugin/problem``.
  package func plugins() -> [Plugin] {
    noticeChanges()
    return folder.plugins()
  }

  /// The number of changes of the plugins' folders; while it stays the same, so do the plugins.
  package var changeCount: Int { folder.changeCount }

  /// Whether the plugin is the version that renders its rich type; after a change it is false until ``plugin(_:)``
  /// has returned.
  ///
  /// Never waits for a disk: changes are noticed by inotify, or after ``warmUp()`` within about a second.
  package func isCurrent(_ plugin: Plugin) -> Bool { folder.isCurrent(plugin) }

  /// The state of each plugin, by name.
  package func status() -> [PluginStatus] {
    plugins().map { plugin in
      runtimes.withLock { $0[plugin.richType] }?.status(of: plugin)
        ?? PluginStatus(plugin: plugin, processes: .init(), queue: .init(), calls: .init())
    }
  }

  // MARK: - Isolation

  /// How well plugins are isolated on this machine.
  package var sandboxReport: SandboxReport { environment.launcher.report }

  /// How a plugin is isolated now, in one line.
  package func confinement(of plugin: Plugin) -> String {
    sandboxReport.confinement(of: environment.user(of: plugin))
  }

  /// What some plugins can do although they should not, each in one sentence.
  package var sandboxGaps: [String] {
    let unknown = sandboxReport.uids ? PluginUser.dedicated(0) : .server(reason: "")
    let users = plugins().filter { $0.problem == nil }.map(environment.user)
    var gaps: [String] = []
    for gap in ([unknown] + users).flatMap(sandboxReport.gaps) where !gaps.contains(gap) {
      gaps.append(gap)
    }
    return gaps
  }

  /// The first of the server's own files and folders that plugins may read, with the readable folder it is in;
  /// nil if there is none.
  package func firstReadable(of paths: [String]) -> (path: String, below: String)? {
    let plugins = plugins().filter { $0.problem.map(PluginFolder.isOverlap) ?? true }
    let readable =
      sandboxReport.readable + environment.configuration.readablePaths + SharedLibraries.folders
      + plugins.flatMap(\.roots)
    return Self.first(of: paths, in: readable)
  }

  /// The folder in which plugins of every server may read a path.
  ///
  /// - Parameters:
  ///   - path: A file or folder, which need not exist.
  ///   - launcher: The path of `richpush-exec`.
  /// - Returns: The readable folder; nil if there is none.
  /// - Throws: ``PluginError/Code/busy`` if the launcher cannot be started.
  package static func readableFolder(
    holding path: String, launcher: String
  ) throws(PluginError) -> String? {
    let launcher = try PluginLauncher(
      PluginConfiguration(folder: "", executables: nil, launcher: launcher, temporaryFolder: ""))
    return first(of: [path], in: launcher.report.readable)?.below
  }

  private static func first(
    of paths: [String], in readable: [String]
  ) -> (path: String, below: String)? {
    let folders = readable.map(\.realPath)
    for path in paths.map(\.realPath) {
      if let folder = folders.first(where: path.isInside) { return (path, folder) }
    }
    return nil
  }

  // MARK: - Calls

  /// Calls a plugin and waits for its whole response.
  ///
  /// - Parameters:
  ///   - call: The call. Cancelling the task kills the plugin's process.
  ///   - inline: Whether ``answersInline(_:)`` was true, and other work waits for this thread.
  ///   - transcript: Records the request and the response.
  /// - Returns: The response, checked against the contract. A file in it is removed with the reply.
  /// - Throws: ``PluginError``; its cause is in the log.
  package func respond(
    to call: PluginCall, inline: Bool = false, transcript: Transcript? = nil
  ) async throws(PluginError) -> PluginReply {
    // A thread that must not block has checked the version before.
    guard let plugin = inline ? folder.lastFound(call.richType) : plugin(call.richType) else {
      throw PluginError(.noSuchPlugin, "There is no plugin for \"\(call.richType)\".")
    }
    let log = CallLog(call: call, to: environment.configuration.log)
    let runtime = runtime(of: plugin)
    do throws(PluginError) {
      if let problem = plugin.problem {
        let error = PluginError(
          .failed,
          "The plugin \(plugin.richType) cannot be used: \(Plugin.withoutFolders(problem)).",
          cause: problem)
        runtime.statistics.count(call.verb, nil, error)
        throw error
      }
      guard plugin.manifest.verbs.contains(call.verb) else {
        return try PluginReply.default(to: call, of: plugin)
      }
      return try await runtime.reply(to: call, inline: inline, log, transcript)
    } catch {
      log.write(error)
      throw error
    }
  }

  /// Whether the plugin has an idle process and usually answers before another thread could take over.
  ///
  /// Then ``respond(to:inline:transcript:)`` may be started on a thread that must not block (`Task.immediate`): it
  /// keeps the thread for at most five milliseconds. To pass an asset on, it waits for the disk.
  package func answersInline(_ plugin: Plugin) -> Bool {
    folder.isCurrent(plugin)
      && runtimes.withLock { $0[plugin.richType] }?.answersInline ?? false
  }

  /// Starts the minimum number of processes (`workers.min`), and handles changes of the folder from now on: it
  /// does the same for new plugins, ends the processes of removed ones, and logs which plugins cannot be used.
  package func warmUp() {
    watching.withLock { $0.isOn = true }
    folder.startChecking()
    logProblems()
    for plugin in plugins() where plugin.manifest.workers.min > 0 { _ = runtime(of: plugin) }
  }

  /// Starts processes for `calls` calls that are expected, so that they are ready by then.
  package func prestart(_ richType: String, calls: Int) {
    if let plugin = plugin(richType) { runtime(of: plugin).prestart(calls: calls) }
  }

  /// The runtime of this version of a plugin; that of another version is closed.
  private func runtime(of plugin: Plugin) -> PluginRuntime {
    let (runtime, former) = runtimes.withLock { runtimes -> (PluginRuntime, PluginRuntime?) in
      let former = runtimes[plugin.richType]
      if let former, former.plugin == plugin { return (former, nil) }
      let runtime = PluginRuntime(plugin, after: former, environment)
      runtimes[plugin.richType] = runtime
      runtime.fill()
      return (runtime, former)
    }
    former?.close()
    return runtime
  }

  // MARK: - Changes of the folder

  private func noticeChanges() {
    guard folder.noticeChanges() else { return }
    let mustSchedule = watching.withLock { watching in
      defer { watching.isScheduled = watching.isOn }
      return watching.isOn && !watching.isScheduled
    }
    guard mustSchedule else { return }
    DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + Self.changeDelay) {
      [weak self] in self?.applyChanges()
    }
  }

  private func applyChanges() {
    watching.withLock { $0.isScheduled = false }
    let names = Set(plugins().map(\.richType))
    let removed = runtimes.withLock { runtimes in
      let removed = runtimes.filter { !names.contains($0.key) }
      for name in removed.keys { runtimes[name] = nil }
      return removed.values
    }
    for runtime in removed { runtime.close() }
    warmUp()
  }

  /// Logs which plugins cannot be used, and which now can, unless the log has it.
  private func logProblems() {
    let plugins = plugins()
    let current = plugins.reduce(into: [:]) { $0[$1.richType] = $1.problem }
    let former = loggedProblems.withLock { problems in
      defer { problems = current }
      return problems
    }
    for plugin in plugins where plugin.problem != former[plugin.richType] {
      CallLog(richType: plugin.richType, to: environment.configuration.log)
        .write(plugin.problem.map { "it cannot be used: \($0)" } ?? "it can be used now")
    }
  }
}

extension PluginConfiguration {
  /// The same with absolute paths, which are valid in any working directory.
  fileprivate var withAbsolutePaths: PluginConfiguration {
    func absolute(_ path: String) -> String {
      URL(fileURLWithPath: path).standardizedFileURL.path
    }
    var copy = self
    for path in [\Self.folder, \.launcher, \.temporaryFolder, \.scratchFolder] {
      copy[keyPath: path] = absolute(copy[keyPath: path])
    }
    copy.furtherFolders = furtherFolders.map(absolute)
    copy.executables = executables.map(absolute)
    return copy
  }
}
