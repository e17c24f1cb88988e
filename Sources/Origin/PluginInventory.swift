import FoundationEssentials
import PluginHost

/// The plugins of a folder, for the command line.
package struct PluginInventory: Sendable {
  private let host: PluginHost
  private let sandbox: SandboxReport

  /// Looks at the folder; `programs` holds `richpush-exec` and the plugins that ship.
  package init(folder: String, programs: String) throws {
    host = try PluginHost(
      configuration: PluginConfiguration(
        folder: folder, binaries: programs, launcher: programs + "/richpush-exec",
        temporaryFolder: FileManager.default.temporaryDirectory.path))
    sandbox = try host.sandboxReport()
  }

  /// The rich type, version, mode, verbs and state of each plugin.
  package var rows: [[String]] {
    host.plugins().map { plugin in
      [
        plugin.richType, plugin.manifest.version.isEmpty ? "-" : plugin.manifest.version,
        plugin.manifest.mode.rawValue,
        plugin.manifest.verbs.map(\.rawValue).sorted().joined(separator: ","),
        plugin.problem ?? "ready",
      ]
    }
  }

  /// What plugins can do on this kernel although they should not.
  package var gaps: [String] { sandbox.gaps }
}
