import FoundationEssentials
import Glibc
import MediaTypes
package import PluginHost
import Primitives
import Synchronization

/// Runs one plugin for its author, with the server's own host, launcher, limits and sandbox.
package final class PluginTester: Sendable {
  /// Why a plugin cannot be tested, listed or created, in one sentence.
  package struct Problem: Error, CustomStringConvertible {
    package let reason: String

    /// The reason, which is written for people.
    package var description: String { reason }

    init(reason: String) { self.reason = reason }

    /// The error of writing a file or folder.
    init(writing path: String, _ error: any Error) {
      let system = (error as? CocoaError)?.underlying as? POSIXError
      let cause = system.map { Errno(rawValue: $0.code.rawValue) } ?? error
      self.init(reason: "\(path) cannot be written: \(cause)")
    }
  }

  /// The plugin's rich type, which is the name of its file or folder.
  package let name: String
  /// The absolute path of its file or folder.
  package let path: String
  private let host: PluginHost
  private let folder: TemporaryFolder
  private let log = Lines()
  private let copies = Mutex<[PluginCall.Asset: PluginCall.Asset]>([:])

  private final class Lines: Sendable {
    let lines = Mutex<[String]>([])
  }

  /// Prepares to call a plugin.
  ///
  /// - Parameters:
  ///   - path: Its file or folder.
  ///   - programs: The folder with `richpush-exec` and the plugins that ship.
  ///   - sandbox: How the plugin is isolated.
  /// - Throws: ``Problem`` when there is no such plugin, or the launcher cannot be started.
  package init(
    _ path: String, programs: String, sandbox: SandboxReport.Level = .standard
  ) throws(Problem) {
    let url = URL(fileURLWithPath: path).standardizedFileURL
    (self.path, name) = (url.path, url.lastPathComponent)
    guard FileManager.default.fileExists(atPath: url.path) else {
      throw Problem(reason: "there is no plugin at \(path)")
    }
    folder = try TemporaryFolder()
    let plugins = url.deletingLastPathComponent().path
    host = try PluginHost.start(plugins: plugins, programs: programs, in: folder) { [log] in
      $0.sandbox = sandbox
      // A slow machine is no fault of the plugin: calls may wait for as long as those before them may take.
      $0.queueTimeout = .seconds(600)
      $0.setLog { line in log.lines.withLock { $0.append(line) } }
    }
  }

  /// The plugin as it is now; nil when its name is not a valid rich type.
  package var plugin: Plugin? { host.plugin(name) }

  /// The plugin's pooled processes.
  var processes: PluginStatus.Processes {
    host.status().first { $0.plugin.richType == name }?.processes ?? .init()
  }

  /// Calls the plugin and records what was sent, returned and logged.
  package func run(_ call: PluginCall) async -> CallResult {
    var call = call
    call.richType = name
    call.asset = call.asset.map(copy)
    let transcript = Transcript()
    let logged = log.lines.withLock { $0.count }
    do throws(PluginError) {
      let reply = try await host.respond(to: call, transcript: transcript)
      return CallResult(reply: reply, error: nil, exchanges: transcript.attempts, log: [])
    } catch {
      let lines = log.lines.withLock { Array($0.dropFirst(logged)) }
      return CallResult(reply: nil, error: error, exchanges: transcript.attempts, log: lines)
    }
  }

  /// The same asset as a file of the tester's own, made once: the host links assets into plugins' folders, which
  /// would change a file that is somebody's (its ctime, and for a moment its number of links).
  private func copy(_ asset: PluginCall.Asset) -> PluginCall.Asset {
    if asset.path.hasPrefix(folder.path + "/") { return asset }
    return copies.withLock { copies in
      if let copy = copies[asset] { return copy }
      guard let bytes = try? Data(contentsOf: URL(filePath: asset.path)),
        let copy = makeAsset(Array(bytes), type: asset.type)
      else { return asset }
      copies[asset] = copy
      return copy
    }
  }

  /// Writes a file that a call can use as its asset; nil when the disk refuses it.
  func makeAsset(_ bytes: [UInt8], type: String) -> PluginCall.Asset? {
    let file = "\(folder.path)/asset-\(UUID())"
    let isWritten = FileManager.default.createFile(
      atPath: file, contents: Data(bytes), attributes: [.posixPermissions: 0o444])
    return isWritten ? PluginCall.Asset(file: file, type: type) : nil
  }
}

/// The outcome of one call of a plugin.
package struct CallResult: Sendable {
  /// The plugin's response; nil when there is an error.
  package let reply: PluginReply?
  /// The error that the server would return to its caller.
  package let error: PluginError?
  /// What was sent to the plugin, and what it sent back.
  package let exchanges: [Transcript.Attempt]
  /// The lines that the server would have logged.
  package let log: [String]

  /// The content of the response; empty for a redirect, a refusal, or the asset itself.
  package var content: [UInt8] {
    switch reply?.body {
    case .bytes(let bytes): bytes
    case .file(let file): OpenFile(file.path).map { $0.bytes(0..<$0.size) } ?? []
    case .asset, nil: []
    }
  }

  /// Whether the plugin followed the contract: it answered, or refused with a status of its own.
  var isOrderly: Bool { error?.code.isFailure != true }

  /// Whether the response is the asset, sent unchanged.
  var isAsset: Bool { if case .asset = reply?.body { true } else { false } }

  /// The cause of a failure, in a few words.
  var cause: String {
    // Lines with " says: " are the plugin's own standard error; the host's line names the cause.
    log.last { !$0.contains(" says: ") } ?? error.map { "\($0.code.rawValue): \($0.reason)" }
      ?? "it answers"
  }

  /// Whether a caller would get the same response from both calls.
  func equals(_ other: CallResult) -> Bool {
    error?.code == other.error?.code && reply?.contentType == other.reply?.contentType
      && reply?.location == other.reply?.location && isAsset == other.isAsset
      && content == other.content
  }
}

/// A temporary folder, removed with its owner.
final class TemporaryFolder: Sendable {
  let path: String

  init() throws(PluginTester.Problem) {
    path = FileManager.default.temporaryDirectory.appending(path: "richpush-test-\(UUID())").path
    do {
      // 0711: a plugin that runs under its own user ID must be able to enter it.
      try FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o711])
    } catch { throw PluginTester.Problem(writing: path, error) }
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }
}

extension PluginHost {
  /// Starts a host for the plugins of a folder; `configure` changes its defaults.
  static func start(
    plugins: String, programs: String, in folder: TemporaryFolder,
    configure: (inout PluginConfiguration) -> Void
  ) throws(PluginTester.Problem) -> PluginHost {
    var configuration = PluginConfiguration(
      folder: plugins, executables: programs, launcher: programs + "/richpush-exec",
      temporaryFolder: folder.path)
    configure(&configuration)
    do throws(PluginError) {
      return try PluginHost(configuration: configuration)
    } catch { throw PluginTester.Problem(reason: error.reason) }
  }
}
