import Foundation
package import PluginHost
import Synchronization

/// An author's bench for one plugin: the very host the server has, with its launcher and its limits.
package final class PluginBench: Sendable {
  /// Why there is nothing to put on the bench, in one sentence.
  package struct Problem: Error {
    package let reason: String
  }

  /// The plugin's rich type, which is the name of its file or folder.
  package let name: String
  /// The absolute path of its file or folder.
  package let path: String
  private let host: PluginHost
  private let folder: BenchFolder
  private let log: Log

  private final class Log: Sendable {
    let lines = Mutex<[String]>([])
  }

  /// Puts a plugin on the bench.
  ///
  /// - Parameters:
  ///   - path: Its file or folder.
  ///   - programs: The folder with `richpush-exec` and the plugins that ship.
  ///   - sandbox: How it is shut in.
  /// - Throws: ``Problem`` when there is none, or no process can be started.
  package init(
    _ path: String, programs: String, sandbox: SandboxReport.Level = .standard
  ) throws(Problem) {
    let url = URL(fileURLWithPath: path).standardizedFileURL
    (self.path, name) = (url.path, url.lastPathComponent)
    guard FileManager.default.fileExists(atPath: url.path) else {
      throw Problem(reason: "there is no plugin at \(path)")
    }
    folder = try BenchFolder()
    let log = Log()
    self.log = log
    do throws(PluginError) {
      var configuration = PluginConfiguration(
        folder: url.deletingLastPathComponent().path, binaries: programs,
        launcher: programs + "/richpush-exec", temporaryFolder: folder.path)
      configuration.sandbox = sandbox
      configuration.log = { line in log.lines.withLock { $0.append(line) } }
      host = try PluginHost(configuration: configuration)
    } catch { throw Problem(reason: error.reason) }
  }

  /// The plugin as it stands; nil when its name is no rich type's.
  package var plugin: Plugin? { host.plugin(name) }

  /// How many of its processes stay.
  var processes: PluginStatus.Processes {
    host.status().first { $0.plugin.richType == name }?.processes ?? .init()
  }

  /// Asks the plugin, and takes down everything.
  package func ask(_ call: PluginCall) async -> Trial {
    var call = call
    call.richType = name
    let transcript = Transcript()
    let known = log.lines.withLock { $0.count }
    do throws(PluginError) {
      let reply = try await host.respond(to: call, transcript: transcript)
      return Trial(reply: reply, error: nil, exchanges: transcript.exchanges, log: [])
    } catch {
      let lines = log.lines.withLock { Array($0.dropFirst(known)) }
      return Trial(reply: nil, error: error, exchanges: transcript.exchanges, log: lines)
    }
  }

  /// A new file on the bench that can be a call's asset; nil when the disk does not let it.
  func asset(_ bytes: [UInt8], type: String) -> PluginCall.Asset? {
    let file = "\(folder.path)/asset-\(UUID())"
    guard FileManager.default.createFile(atPath: file, contents: Data(bytes), attributes: [.posixPermissions: 0o444])
    else { return nil }
    return PluginCall.Asset(file: file, type: type)
  }
}
