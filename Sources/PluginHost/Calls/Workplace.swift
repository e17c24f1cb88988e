import Dispatch
import Glibc

/// What every call needs: the launcher, the poller and the operator's bounds.
struct Workplace: Sendable {
  let configuration: PluginConfiguration
  let forker: Forker
  let poller: Poller

  /// What a process of the plugin may reach: its own files, the operator's extras, and `own`.
  private func sandbox(for plugin: Plugin, own: [String], writable: String) -> Order.Sandbox {
    Order.Sandbox(
      level: configuration.sandbox,
      readable: plugin.roots + own + configuration.readable + SharedLibraries.folders
        + (php(plugin).map { [$0.settings] } ?? []),
      writable: writable,
      network: isOnline(plugin))
  }

  /// Where an answer of the plugin's is collected.
  func spool(for plugin: Plugin) -> AnswerSpool {
    AnswerSpool(
      limit: plugin.manifest.limits.outputMiB << 20, folder: configuration.temporaryFolder)
  }

  /// A new resident process of a plugin, which speaks FastCGI.
  func worker(of plugin: Plugin) throws(PluginError) -> Worker {
    let folder = try residence()
    var order = order(for: plugin, in: folder)
    order.grace = .seconds(2)
    order.restTime = .seconds(plugin.manifest.limits.seconds)
    order.environment =
      Environment.usual + [("TMPDIR", folder.path + "/tmp"), ("HOME", folder.path + "/tmp")]
      + (php(plugin)?.ofProcess ?? [])
    let log = CallLog(richType: plugin.richType, write: configuration.log)
    return try Worker(
      folder: folder, order: order,
      environment: environment(of: plugin, scratch: folder.path + "/tmp"), log: log,
      forker: forker, poller: poller)
  }

  /// A new starter of a plugin's one-shot processes.
  func spawner(of plugin: Plugin) throws(PluginError) -> Spawner {
    let folder = try residence()
    var order = order(for: plugin, in: folder)
    order.deadline = .seconds(plugin.manifest.limits.seconds)
    order.cpuSeconds = plugin.manifest.limits.seconds + 1
    order.isForCalls = true
    return try Spawner(folder: folder, order: order, forker: forker, poller: poller)
  }

  /// The variables that are the same for every call which may write to `scratch`.
  func environment(of plugin: Plugin, scratch: String) -> [(name: String, value: String)] {
    let php = php(plugin).map { $0.ofRequest + $0.ofProcess } ?? []
    let online = isOnline(plugin) ? [("RICH_NETWORK", "1")] : []
    return [
      ("GATEWAY_INTERFACE", "CGI/1.1"), ("SERVER_PROTOCOL", "HTTP/1.1"),
      ("SERVER_SOFTWARE", "richpush"), ("SERVER_NAME", configuration.serverName),
      ("SERVER_PORT", String(configuration.serverPort)), ("REMOTE_ADDR", "127.0.0.1"),
      ("SCRIPT_NAME", "/" + plugin.richType), ("RICH_TYPE", plugin.richType),
      ("RICH_DEADLINE_MS", String(plugin.manifest.limits.seconds * 1000)),
      ("TMPDIR", scratch), ("HOME", scratch),
    ] + Environment.usual + php + online
  }

  private func isOnline(_ plugin: Plugin) -> Bool {
    plugin.manifest.network && configuration.network.contains(plugin.richType)
  }

  /// A folder with room for lent assets (`in`) and a TMPDIR (`tmp`).
  private func residence() throws(PluginError) -> ScratchFolder {
    guard let folder = ScratchFolder(in: configuration.temporaryFolder),
      mkdir(folder.path + "/tmp", 0o700) == 0, mkdir(folder.path + "/in", 0o700) == 0
    else { throw .busy("The server cannot make a temporary folder.") }
    return folder
  }

  private func order(for plugin: Plugin, in folder: ScratchFolder) -> Order {
    let limits = plugin.manifest.limits
    return Order(
      program: plugin.executable, folder: plugin.folder, memoryMiB: limits.memoryMiB,
      fileMiB: limits.outputMiB, spaceMiB: Order.spaceMiB(for: limits),
      sandbox: sandbox(
        for: plugin, own: [folder.path + "/in"], writable: folder.path + "/tmp"))
  }

  private func php(_ plugin: Plugin) -> PHPVariables? {
    PHPVariables(of: plugin, temporaryFolder: configuration.temporaryFolder)
  }

  /// Removes what a server that was killed left behind; the folder is the host's own.
  func tidy() {
    let folder = configuration.temporaryFolder
    guard let place = Descriptor(open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) else { return }
    let names = FolderListing(place).texts
    DispatchQueue.global(qos: .utility).async {
      for name in names where name.hasPrefix("plugin-") { FolderRemoval.remove(name, in: folder) }
      for name in names where name.hasPrefix("answer-") { unlink("\(folder)/\(name)") }
    }
  }
}
