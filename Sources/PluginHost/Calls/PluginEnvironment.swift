import Glibc
import Primitives

/// Prepares users, folders, sandboxes and environment variables for processes and calls.
struct PluginEnvironment: Sendable {
  let configuration: PluginConfiguration
  let launcher: PluginLauncher
  let poller: Poller
  private let users: PluginUsers

  typealias Variables = [(name: String, value: String)]

  /// Prepares the scratch folder, and removes what a server that was killed left in the folders.
  ///
  /// - Throws: ``PluginError/Code/busy`` if the disk refuses, no descriptors are left, or no launcher can be started.
  init(
    _ configuration: PluginConfiguration, _ launcher: PluginLauncher?
  ) throws(PluginError) {
    guard let poller = Poller() else { throw .noDescriptors }
    self.configuration = configuration
    if let launcher {
      self.launcher = launcher
    } else {
      self.launcher = try PluginLauncher(configuration)
    }
    self.poller = poller
    users = PluginUsers(range: configuration.uids, scratchFolder: configuration.scratchFolder)
    let folder = configuration.scratchFolder
    if folder != configuration.temporaryFolder {
      // Other users may enter it and not list it.
      guard Self.makeFolder(folder, mode: 0o711) else {
        throw .busy("The folder \(folder) for plugins cannot be made: \(Errno.current).")
      }
    }
    removeLeftovers()
  }

  private func removeLeftovers() {
    let (scratch, answers) = (configuration.scratchFolder, configuration.temporaryFolder)
    // Listed now, because later the folders contain files of this server's own calls.
    let leftAnswers = FolderListing.texts(in: answers).filter { Self.isOwn($0, "answer-") }
    let leftFolders = FolderListing.texts(in: scratch).filter { Self.isOwn($0, "plugin-") }
    Task.detached(priority: .utility) { [launcher, configuration] in
      for name in leftAnswers { unlink("\(answers)/\(name)") }
      for name in leftFolders {
        var status = stat()
        if lstat("\(scratch)/\(name)/tmp", &status) == 0, ![0, status.st_uid].contains(geteuid()) {
          let user = PluginUser.dedicated(Int(status.st_uid))
          _ = await launcher.empty("\(scratch)/\(name)/tmp", of: user)
        }
        FolderRemoval.remove(name, in: scratch)
        if lstat("\(scratch)/\(name)", &status) == 0 {
          configuration.log(
            .warning, "plugin",
            "\(scratch)/\(name) is left and cannot be removed: remove it as root")
        }
      }
    }
  }

  /// Whether a name is a prefix and a random text.
  private static func isOwn(_ name: String, _ prefix: String) -> Bool {
    let rest = name.dropFirst(prefix.count).utf8
    return name.hasPrefix(prefix) && (1...13).contains(rest.count)
      && rest.allSatisfy { (48...57).contains($0) || (97...122).contains($0) }
  }

  /// Makes a folder unless there is one, and sets its mode whatever the umask, but not that of what a link leads to.
  private static func makeFolder(_ path: String, mode: mode_t) -> Bool {
    guard mkdir(path, mode) == 0 || errno == EEXIST else { return false }
    return fchmodat(AT_FDCWD, path, mode, AT_SYMLINK_NOFOLLOW) == 0 || errno == EOPNOTSUPP
  }

  /// The user that a plugin's next process runs as.
  func user(of plugin: Plugin) -> PluginUser { users.user(of: plugin, launcher.report) }

  /// Starts a resident process of a plugin.
  func startResident(_ plugin: Plugin) throws(PluginError) -> ResidentProcess {
    var (folder, spec) = try prepare(plugin)
    spec.gracePeriod = Self.gracePeriod
    spec.idleCPUTime = .seconds(plugin.manifest.limits.seconds)
    spec.environment =
      Self.basics + [("TMPDIR", folder.scratch.path), ("HOME", folder.scratch.path)]
      + phpVariables(of: plugin)
    return try start(in: folder) { () throws(PluginError) in
      try ResidentProcess(
        spec, in: folder, variables: sharedVariables(of: plugin, folder.scratch),
        CallLog(richType: plugin.richType, to: configuration.log), launcher, poller)
    }
  }

  /// Starts a process in its folder, which is removed if that fails.
  private func start<Process>(
    in folder: ProcessFolder, _ process: () throws(PluginError) -> Process
  ) throws(PluginError) -> Process {
    do throws(PluginError) { return try process() } catch {
      Task { await folder.remove() }
      throw error
    }
  }

  /// Starts a supervisor that runs a plugin once for each call.
  func startSupervisor(_ plugin: Plugin) throws(PluginError) -> OneShotSupervisor {
    var (folder, spec) = try prepare(plugin)
    spec.deadline = .seconds(plugin.manifest.limits.seconds)
    // More than a single thread can use before the deadline, which usually ends it first.
    spec.cpuSeconds = plugin.manifest.limits.seconds + 1
    spec.runsForEachCall = true
    return try start(in: folder) { () throws(PluginError) in
      try OneShotSupervisor(
        spec, in: folder, variables: sharedVariables(of: plugin, folder.scratch), launcher, poller)
    }
  }

  /// The time between SIGTERM and SIGKILL for a resident process that is to end.
  private static let gracePeriod = Duration.seconds(2)

  private func prepare(_ plugin: Plugin) throws(PluginError) -> (ProcessFolder, LaunchSpec) {
    let user = user(of: plugin)
    guard let folder = ProcessFolder(in: configuration.scratchFolder, for: user, launcher) else {
      throw .busy("The server cannot make a temporary folder.")
    }
    let limits = plugin.manifest.limits
    let readable =
      plugin.roots + [folder.assets] + configuration.readablePaths + SharedLibraries.folders
      + (plugin.isPHP ? [preparePHPSettings()] : [])
    let spec = LaunchSpec(
      program: plugin.executable, folder: plugin.folder, memoryMiB: limits.memoryMiB,
      fileMiB: limits.outputMiB, spaceMiB: LaunchSpec.spaceMiB(for: limits), user: user,
      sandbox: LaunchSpec.Sandbox(
        level: configuration.sandbox, readable: readable, assets: folder.assets,
        writable: folder.scratch.path,
        network: hasNetwork(plugin)))
    return (folder, spec)
  }

  private func hasNetwork(_ plugin: Plugin) -> Bool {
    plugin.manifest.network && configuration.network.contains(plugin.richType)
  }

  // MARK: - Variables

  /// The variables of every process.
  private static let basics = [
    ("PATH", PluginConfiguration.searchPath.joined(separator: ":")), ("LANG", "C.UTF-8"),
    ("TZ", "UTC"), ("SWIFT_BACKTRACE", "enable=no"),
  ]

  /// The variables that are the same for every call of a process (RFC 3875 section 4.1).
  private func sharedVariables(of plugin: Plugin, _ scratch: ScratchFolder) -> Variables {
    let php =
      plugin.isPHP
      // php-cgi runs no script without these two.
      ? [("SCRIPT_FILENAME", plugin.executable), ("REDIRECT_STATUS", "200")]
        + phpVariables(of: plugin) : []
    return [
      ("GATEWAY_INTERFACE", "CGI/1.1"), ("SERVER_PROTOCOL", "HTTP/1.1"),
      ("SERVER_SOFTWARE", "richpush"), ("SERVER_NAME", "localhost"), ("SERVER_PORT", "80"),
      ("REMOTE_ADDR", "127.0.0.1"),
      ("SCRIPT_NAME", "/" + plugin.richType), ("RICH_TYPE", plugin.richType),
      ("RICH_DEADLINE_MS", String(plugin.manifest.limits.seconds * 1000)),
      ("TMPDIR", scratch.path), ("HOME", scratch.path),
    ] + Self.basics + php + (hasNetwork(plugin) ? [("RICH_NETWORK", "1")] : [])
  }

  /// The variables of a call.
  ///
  /// They are built from the call alone: no header field of a client's request gets in, so that there can be
  /// no HTTP_PROXY (httpoxy). The `asset` is the call's as the process finds it.
  static func variables(
    of call: PluginCall, asset: PluginCall.Asset?, _ plugin: Plugin
  ) throws(PluginError) -> Variables {
    // All else is the server's own, or escaped.
    if [call.message, call.payload, call.user ?? ""].contains(where: { $0.utf8.contains(0) }) {
      throw PluginError(.invalidContent, "The message or payload contains a NUL character.")
    }
    var variables: Variables = []
    variables.reserveCapacity(32)
    func add(_ name: String, _ value: String?) {
      if let value { variables.append((name, value)) }
    }
    // Replies of other plugins are stored for all notifications with the same content.
    let id = plugin.manifest.perNotification && call.verb == .render ? call.id : nil
    add("REQUEST_METHOD", call.verb.method)
    add("PATH_INFO", "/" + (id ?? ""))
    add("QUERY_STRING", queryString(call.query, of: plugin))
    if call.verb == .validate {
      add("CONTENT_LENGTH", String(call.body.count))
      add("CONTENT_TYPE", call.asset?.type ?? "text/plain; charset=utf-8")
    }
    if plugin.manifest.perUser, let user = call.user {
      add("AUTH_TYPE", "Basic")
      add("REMOTE_USER", user)
    }
    add("RICH_VERB", call.verb.rawValue)
    add("RICH_ID", id)
    add("RICH_MESSAGE", call.message)
    add("RICH_PAYLOAD", call.payload)
    if let asset {
      add("RICH_ASSET_PATH", asset.path)
      add("RICH_ASSET_TYPE", asset.type)
      add("RICH_ASSET_SHA256", asset.sha256)
      add("RICH_ASSET_SIZE", String(asset.size))
    }
    add("RICH_PROFILE", call.options.profile)
    add("RICH_WIDTH", call.options.width.map { String($0) })
    add("RICH_HEIGHT", call.options.height.map { String($0) })
    add("RICH_FIT", call.options.fit)
    add("RICH_DPR", call.options.dpr.map { String($0) })
    add("RICH_MAX_BYTES", call.options.maxBytes.map { String($0) })
    return variables
  }

  /// Only the names that the manifest declares, and those of the options.
  private static func queryString(_ items: Variables, of plugin: Plugin) -> String {
    items.filter { item in
      plugin.manifest.query.contains(item.name) || PluginOptions.names.contains(item.name)
    }
    .map { "\(PercentEncoding.encode($0.name))=\(PercentEncoding.encode($0.value))" }
    .joined(separator: "&")
  }

  // MARK: - PHP

  private var phpFolder: String { configuration.scratchFolder + "/php" }

  /// A folder with settings, which php-cgi reads after the system's own.
  private func phpVariables(of plugin: Plugin) -> Variables {
    plugin.isPHP ? [("PHP_INI_SCAN_DIR", ":" + phpFolder)] : []
  }

  /// Writes the settings, unless they exist, and returns their folder.
  private func preparePHPSettings() -> String {
    // Plugins with users of their own read it.
    _ = Self.makeFolder(phpFolder, mode: 0o755)
    let file = phpFolder + "/richpush.ini"
    if let settings = try? FileDescriptor(file, O_WRONLY | O_CREAT | O_EXCL, mode: 0o644) {
      fchmod(settings.number, 0o644)
      // PHP's code cache is shared memory, which plugins cannot have.
      try? settings.write(Array("opcache.enable=0\n".utf8))
    }
    return phpFolder
  }
}

extension Plugin {
  /// Whether it is a script for php-cgi.
  fileprivate var isPHP: Bool { interpreter?.contains("php") == true }
}

extension PluginCall.Verb {
  /// The method of the CGI request (`docs/PLUGINS.md`).
  fileprivate var method: String {
    switch self {
    case .validate: "POST"
    case .render: "GET"
    case .describe: "OPTIONS"
    }
  }
}
