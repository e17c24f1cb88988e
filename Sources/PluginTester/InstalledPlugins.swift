package import PluginHost

/// The plugins that are installed in a folder.
package struct InstalledPlugins: Sendable {
  private let host: PluginHost
  private let folders: [String]
  private let temporaryFolder: TemporaryFolder

  /// Reads the folder.
  ///
  /// - Parameters:
  ///   - folders: The folders with plugins; the first that has one for a rich type counts.
  ///   - programs: The folder with `richpush-exec` and the executables of the plugins that ship.
  ///   - sandbox: How plugins are isolated.
  /// - Throws: ``PluginTester/Problem`` when temporary files cannot be written.
  package init(
    folders: [String], programs: String, sandbox: SandboxReport.Level = .standard
  ) throws(PluginTester.Problem) {
    self.folders = folders
    temporaryFolder = try TemporaryFolder()
    host = try PluginHost.start(
      plugins: folders.first ?? "", programs: programs, in: temporaryFolder
    ) {
      ($0.furtherFolders, $0.sandbox) = (Array(folders.dropFirst()), sandbox)
    }
  }

  /// The absolute path of the program that handles a rich type.
  ///
  /// - Throws: ``PluginTester/Problem`` when there is no such plugin, or it cannot be run.
  package func executable(of richType: String) throws(PluginTester.Problem) -> String {
    guard let plugin = host.plugin(richType) else {
      throw PluginTester.Problem(
        reason:
          "there is no plugin for \(richType) in \(folders.joined(separator: ", ")); --plugins names the folder"
      )
    }
    if let problem = plugin.problem { throw PluginTester.Problem(reason: problem) }
    return plugin.executable
  }

  /// Each plugin's rich type, version, mode, verbs, state and isolation, for a table.
  package var rows: [[String]] {
    host.plugins().map { plugin in
      [
        plugin.richType, plugin.manifest.version.isEmpty ? "-" : plugin.manifest.version,
        plugin.manifest.mode.rawValue,
        plugin.manifest.verbs.map(\.rawValue).sorted().joined(separator: ","),
        plugin.problem ?? "ready", host.confinement(of: plugin),
      ]
    }
  }

  /// What this kernel cannot keep plugins from doing.
  package var gaps: [String] { host.sandboxGaps }
}
