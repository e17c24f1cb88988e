package import Primitives

/// The folders of plugins, and the limits that the operator sets.
package struct PluginConfiguration: Sendable {
  /// The folder with the plugins, one entry for each rich type.
  package var folder: String
  /// More folders with plugins, for rich types that the ones before do not have.
  package var furtherFolders: [String] = []
  /// The folder with the executables of plugins whose own folder holds only a manifest.
  package var executables: String?
  /// The path of `richpush-exec`.
  package var launcher: String
  /// A folder of the host's own, for large responses.
  package var temporaryFolder: String
  /// A folder of the host's own, for the folders of processes; other users may enter but not list it.
  package var scratchFolder: String
  /// The user and group IDs for plugins, one for each rich type, where the launcher may change users.
  package var uids: ClosedRange<Int> = PluginConfiguration.defaultUIDs
  /// The user and group that the launcher changes to if root starts it; nil keeps it root.
  package var user: (id: UInt32, group: UInt32)?
  /// Files that the launcher opens as root does, if it changes to ``user``.
  package var rootFiles: [String] = []
  /// Concurrent calls of one plugin, unless its manifest's `workers.max` is lower.
  package var concurrency = 4
  /// Calls of one plugin that may wait; more are rejected.
  package var queueLength = 64
  /// How long a call waits before it is rejected.
  package var queueTimeout = Duration.seconds(2)
  /// How strictly plugins are isolated.
  package var sandbox = SandboxReport.Level.standard
  /// Files and folders that plugins may read in addition to the system's programs and libraries.
  package var readablePaths: [String] = []
  /// Files and folders of the server's own, none of which any plugin may read.
  package var secretPaths: [String] = []
  /// The rich types whose plugins get the network if their manifest asks for it.
  package var network: Set<String> = []
  /// Writes a line of the log: one for each failure, and one for each line of a plugin's standard error.
  package var log = Log.silent

  /// Passes the area and the text of each entry of the log to `write`.
  package mutating func setLog(_ write: @escaping @Sendable (String) -> Void) {
    log = Log { write("\($0.area): \($0.text)") }
  }

  /// Describes a host with the default limits.
  package init(folder: String, executables: String?, launcher: String, temporaryFolder: String) {
    (self.folder, self.executables, self.launcher) = (folder, executables, launcher)
    (self.temporaryFolder, scratchFolder) = (temporaryFolder, temporaryFolder)
  }

  /// In a range that Debian sets aside for packages (policy manual, section 9.2.2), and systemd does not use
  /// (systemd.io/UIDS-GIDS); IDs that have an account or a group are skipped.
  package static let defaultUIDs = 60_706...60_961

  /// The folders in which plugins and their interpreters look for programs (PATH).
  static let searchPath = ["/usr/local/bin", "/usr/bin", "/bin"]
}
