import Glibc

/// What every call needs: the launcher, the poller and the operator's bounds.
struct Workplace: Sendable {
  let configuration: PluginConfiguration
  let forker: Forker
  let poller: Poller

  /// A new folder for one call or worker.
  func scratch() throws(Fault) -> ScratchFolder {
    guard let scratch = ScratchFolder(in: configuration.temporaryFolder) else {
      throw Fault(
        error: .busy("The server cannot make a temporary folder."),
        cause: "no folder can be made in \(configuration.temporaryFolder)")
    }
    return scratch
  }

  /// What a process of the plugin may reach: its own files, the operator's extras, and `own`.
  func sandbox(for plugin: Plugin, own: [String], writable: String) -> Order.Sandbox {
    Order.Sandbox(
      level: configuration.sandbox,
      readable: plugin.roots + own + configuration.readable + SharedLibraries.folders
        + (php(plugin).map { [$0.settings] } ?? []),
      writable: writable,
      network: plugin.manifest.network && configuration.network.contains(plugin.richType))
  }

  /// Where an answer of the plugin's is collected.
  func spool(for plugin: Plugin) -> AnswerSpool {
    AnswerSpool(
      limit: plugin.manifest.limits.outputMiB << 20, folder: configuration.temporaryFolder)
  }

  /// A new resident process of a plugin.
  func worker(of plugin: Plugin, _ log: CallLog) throws(PluginError) -> Worker {
    guard let folder = ScratchFolder(in: configuration.temporaryFolder) else {
      throw .busy("The server cannot make a temporary folder.")
    }
    let (tmp, incoming) = (folder.path + "/tmp", folder.path + "/in")
    guard mkdir(tmp, 0o700) == 0, mkdir(incoming, 0o700) == 0 else {
      throw .busy("The server cannot make a temporary folder.")
    }
    let limits = plugin.manifest.limits
    let order = Order(
      program: plugin.executable, folder: plugin.folder, grace: .seconds(2),
      memoryMiB: limits.memoryMiB, fileMiB: limits.outputMiB,
      sandbox: sandbox(for: plugin, own: [incoming], writable: tmp),
      environment: Environment.usual + [("TMPDIR", tmp), ("HOME", tmp)]
        + (php(plugin)?.ofProcess ?? []))
    return try Worker(folder: folder, order: order, log: log, forker: forker, poller: poller)
  }

  private func php(_ plugin: Plugin) -> PHPVariables? {
    PHPVariables(of: plugin, temporaryFolder: configuration.temporaryFolder)
  }
}
