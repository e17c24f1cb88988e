/// What the operator grants: where plugins are and what they may use.
package struct PluginConfiguration: Sendable {
  /// The folder with the plugins, one entry a rich type.
  package var folder: String
  /// The folder with the executables of plugins whose own folder holds only a manifest.
  package var binaries: String?
  /// The path of `richpush-exec`.
  package var launcher: String
  /// A folder of the host's own; large answers wait there.
  package var temporaryFolder: String
  /// A folder of the host's own, which other users may enter but not list: scratch folders are in it.
  package var scratchFolder: String
  /// The user and group IDs that plugins may get, one a rich type, where the launcher may change users.
  package var uids: ClosedRange<Int> = PluginConfiguration.usualUIDs
  /// The user and group that the launcher changes to when it is started by root; nil lets it be root.
  package var user: (id: UInt32, group: UInt32)?
  /// Calls of one plugin at a time, unless its manifest asks for fewer workers.
  package var concurrency = 4
  /// Calls of one plugin that may wait for their turn; the next one is refused with 503.
  package var queueLength = 64
  /// How long a call waits for its turn before it is refused with 503.
  package var queuePatience = Duration.seconds(2)
  /// The most a manifest can ask for.
  package var ceiling = Manifest.Limits(seconds: 30, memoryMiB: 1024, outputMiB: 64)
  /// How far plugins are shut in.
  package var sandbox = SandboxReport.Level.standard
  /// Files and folders that plugins may read beside the system's programs and libraries.
  package var readable: [String] = []
  /// The rich types whose plugins get the network when their manifest asks for it.
  package var network: Set<String> = []
  /// The public name of the server (SERVER_NAME).
  package var serverName = "localhost"
  /// The public port of the server (SERVER_PORT).
  package var serverPort = 80
  /// Takes one line for each failure and each line a plugin wrote to its standard error.
  package var log: @Sendable (String) -> Void = { _ in }

  /// Describes a host with the usual limits.
  package init(folder: String, binaries: String?, launcher: String, temporaryFolder: String) {
    self.folder = folder
    self.binaries = binaries
    self.launcher = launcher
    self.temporaryFolder = temporaryFolder
    scratchFolder = temporaryFolder
  }

  /// A range that neither Debian nor systemd gives to anybody.
  package static let usualUIDs = 62_000...62_255
}
