import Glibc

/// What every call needs: the launcher, the poller and the operator's bounds.
struct Workplace: Sendable {
  let configuration: PluginConfiguration
  let forker: Forker
  let users: PluginUsers
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
    let user = try user(of: plugin)
    let residence = try residence(for: user)
    let scratch = residence.scratch.path
    var order = order(for: plugin, as: user, in: residence)
    order.grace = .seconds(2)
    order.restTime = .seconds(plugin.manifest.limits.seconds)
    order.environment =
      Environment.usual + [("TMPDIR", scratch), ("HOME", scratch)]
      + (php(plugin)?.ofProcess ?? [])
    let log = CallLog(richType: plugin.richType, write: configuration.log)
    return try Worker(
      residence: residence, order: order,
      environment: environment(of: plugin, scratch: scratch), log: log,
      forker: forker, poller: poller)
  }

  /// A new starter of a plugin's one-shot processes.
  func spawner(of plugin: Plugin) throws(PluginError) -> Spawner {
    let user = try user(of: plugin)
    let residence = try residence(for: user)
    var order = order(for: plugin, as: user, in: residence)
    order.deadline = .seconds(plugin.manifest.limits.seconds)
    order.cpuSeconds = plugin.manifest.limits.seconds + 1
    order.isForCalls = true
    return try Spawner(residence: residence, order: order, forker: forker, poller: poller)
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

  private func residence(for user: PluginUser) throws(PluginError) -> Residence {
    guard let residence = Residence(in: configuration.scratchFolder, for: user, forker: forker)
    else { throw .busy("The server cannot make a temporary folder.") }
    return residence
  }

  /// How well plugins are shut in here; starts the launcher to ask it.
  ///
  /// - Throws: ``PluginError`` 503 when the launcher cannot be started.
  func sandboxReport() throws(PluginError) -> SandboxReport {
    let line = try forker.sandbox()
    guard let report = SandboxReport(level: configuration.sandbox, launcherSays: line) else {
      throw .busy("The launcher of plugins is of another version.")
    }
    return report
  }

  /// The user that a plugin's next process runs as.
  ///
  /// - Throws: ``PluginError`` 503 when the launcher cannot be started.
  func user(of plugin: Plugin) throws(PluginError) -> PluginUser {
    users.user(of: plugin, libraries: SharedLibraries.folders, report: try sandboxReport())
  }

  private func order(for plugin: Plugin, as user: PluginUser, in residence: Residence) -> Order {
    let limits = plugin.manifest.limits
    return Order(
      program: plugin.executable, folder: plugin.folder, memoryMiB: limits.memoryMiB,
      fileMiB: limits.outputMiB, spaceMiB: Order.spaceMiB(for: limits), uid: user.id,
      sandbox: sandbox(
        for: plugin, own: [residence.folder.path + "/in"], writable: residence.scratch.path))
  }

  private func php(_ plugin: Plugin) -> PHPVariables? {
    PHPVariables(of: plugin, scratchFolder: configuration.scratchFolder)
  }

  /// Makes the folder of the scratch folders, which other users may enter and not list.
  ///
  /// - Throws: ``PluginError`` 503 when the disk does not let it.
  func makeScratchFolder() throws(PluginError) {
    let folder = configuration.scratchFolder
    if folder == configuration.temporaryFolder { return }
    guard mkdir(folder, 0o711) == 0 || errno == EEXIST, chmod(folder, 0o711) == 0 else {
      throw .busy(
        "The folder \(folder) for plugins cannot be made: \(String(cString: strerror(errno))).")
    }
  }

  /// Removes what a server that was killed left behind; the folders are the host's own.
  func tidy() {
    let (scratch, answers) = (configuration.scratchFolder, configuration.temporaryFolder)
    Task.detached(priority: .utility) { [forker] in
      for name in FolderListing.texts(in: answers) where name.hasPrefix("answer-") {
        unlink("\(answers)/\(name)")
      }
      for name in FolderListing.texts(in: scratch) where name.hasPrefix("plugin-") {
        if let owner = Self.owner(of: "\(scratch)/\(name)/tmp"), owner != geteuid(), geteuid() != 0
        {
          _ = await forker.empty("\(scratch)/\(name)/tmp", of: .own(Int(owner)))
        }
        FolderRemoval.remove(name, in: scratch)
      }
    }
  }

  private static func owner(of path: String) -> uid_t? {
    var status = stat()
    return lstat(path, &status) == 0 ? status.st_uid : nil
  }
}
