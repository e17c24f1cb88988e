package import PluginHost

/// The plugins of a folder, as they stand there.
package struct PluginShelf: Sendable {
  private let host: PluginHost
  private let folder: String
  private let bench: BenchFolder

  /// Looks at the folder.
  ///
  /// - Parameters:
  ///   - folder: The plugins' folder.
  ///   - programs: Holds `richpush-exec` and the plugins that ship.
  ///   - sandbox: How they are shut in.
  /// - Throws: ``PluginBench/Problem`` when there is no room for temporary files.
  package init(
    folder: String, programs: String, sandbox: SandboxReport.Level = .standard
  ) throws(PluginBench.Problem) {
    self.folder = folder
    bench = try BenchFolder()
    do throws(PluginError) {
      var configuration = PluginConfiguration(
        folder: folder, binaries: programs, launcher: programs + "/richpush-exec",
        temporaryFolder: bench.path)
      configuration.sandbox = sandbox
      host = try PluginHost(configuration: configuration)
    } catch { throw PluginBench.Problem(reason: error.reason) }
  }

  /// The absolute path of the program that handles a rich type.
  ///
  /// - Throws: ``PluginBench/Problem`` when there is none, or none that can be run.
  package func executable(of richType: String) throws(PluginBench.Problem) -> String {
    guard let plugin = host.plugin(richType) else {
      throw PluginBench.Problem(
        reason: "there is no plugin for \(richType) in \(folder); --plugins says where they are")
    }
    if let problem = plugin.problem { throw PluginBench.Problem(reason: problem) }
    return plugin.executable
  }

  /// The rich type, version, mode, verbs, state and confinement of each plugin.
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

  /// What plugins can do on this kernel although they should not; starts the launcher to ask it.
  package func gaps() throws(PluginBench.Problem) -> [String] {
    do throws(PluginError) {
      return try host.gaps()
    } catch { throw PluginBench.Problem(reason: error.reason) }
  }
}
