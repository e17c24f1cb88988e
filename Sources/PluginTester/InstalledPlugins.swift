package import PluginHost

/// The plugins that are installed in a folder.
package struct InstalledPlugins: Sendable {
  private let host: PluginHost
  private let folder: String
  private let temporaryFolder: TemporaryFolder

  /// Reads the folder.
  ///
  /// - Parameters:
  ///   - folder: The folder with the plugins.
  ///   - shipped: The folder with the plugins that ship, for rich types that `folder` does not have.
  ///   - programs: The folder with `richpush-exec` and the executables of the plugins that ship.
  ///   - sandbox: How plugins are isolated.
  /// - Throws: ``PluginTester/Problem`` when temporary files cannot be written.
  package init(
    folder: String, shipped: String?, programs: String, sandbox: SandboxReport.Level = .standard
  ) throws(PluginTester.Problem) {
    self.folder = folder
    temporaryFolder = try TemporaryFolder()
    host = try PluginHost.start(plugins: folder, programs: programs, in: temporaryFolder) {
      ($0.bundledFolder, $0.sandbox) = (shipped, sandbox)
    }
  }

  /// The absolute path of the program that handles a rich type.
  ///
  /// - Throws: ``PluginTester/Problem`` when there is no such plugin, or it cannot be run.
  package func executable(of richType: String) throws(PluginTester.Problem) -> String {
    guard let plugin = host.plugin(richType) else {
      throw PluginTester.Problem(
        reason: "there is no plugin for \(richType) in \(folder); --plugins names the folder")
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
        plugin.problem ?? "ready", (try? host.confinement(of: plugin)) ?? "-",
      ]
    }
  }

  /// What this kernel cannot keep plugins from doing; starts the launcher to find out.
  package func gaps() throws(PluginTester.Problem) -> [String] {
    do throws(PluginError) {
      return try host.sandboxGaps()
    } catch { throw PluginTester.Problem(reason: error.reason) }
  }
}
