import Foundation
import Synchronization
import Testing
import Primitives

@testable import PluginHost

/// A folder of plugins that a test writes, and a host that runs them.
final class PluginFixture: Sendable {
  let folder: String
  let host: PluginHost
  private let lines: Lines

  final class Lines: Sendable {
    let all = Mutex<[String]>([])
  }

  init(_ change: (inout PluginConfiguration) -> Void = { _ in }) throws {
    let folder = NSTemporaryDirectory() + "plugin-host-tests-" + UUID().uuidString
    for name in ["plugins", "binaries", "tmp"] {
      try FileManager.default.createDirectory(
        atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
    }
    let lines = Lines()
    var configuration = PluginConfiguration(
      folder: "\(folder)/plugins", executables: "\(folder)/binaries",
      launcher: PluginFixture.launcher,
      temporaryFolder: "\(folder)/tmp")
    configuration.uids = Self.uids
    configuration.setLog { line in lines.all.withLock { $0.append(line) } }
    change(&configuration)
    self.folder = folder
    self.lines = lines
    host = try PluginHost(configuration: configuration)
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  /// User IDs of this process's own: the kernel limits how many processes one has on the whole machine, and another
  /// run of the tests, or a server, would take of it.
  private static let uids: ClosedRange<Int> = {
    let first = Int.random(in: 70_000...500_000)
    return first...(first + 63)
  }()

  /// `richpush-exec` beside the program that runs the tests.
  static var launcher: String {
    let program = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
    return ((program ?? "") as NSString).deletingLastPathComponent + "/richpush-exec"
  }

  var log: String { lines.all.withLock { $0.joined(separator: "\n") } }

  /// The files left in the host's temporary folder; processes that stay keep folders, but nothing in them.
  var leftovers: [String] {
    FileManager.default.subpaths(atPath: "\(folder)/tmp")?.filter {
      !$0.hasPrefix("plugin-") || $0.split(separator: "/").count > 2
    } ?? ["?"]
  }

  /// Writes a file below the folder, by default executable.
  @discardableResult
  func write(_ path: String, _ text: String, mode: Int = 0o755) throws -> String {
    let file = "\(folder)/\(path)"
    let parent = (file as NSString).deletingLastPathComponent
    try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
    try text.write(toFile: file, atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
    return file
  }

  /// Installs a bare shell script as a plugin.
  func script(_ name: String, _ body: String) throws {
    try write("plugins/\(name)", "#!/bin/sh\n\(body)\n")
  }

  /// Installs a shell script with a manifest.
  func script(_ name: String, manifest: String, _ body: String) throws {
    try write("plugins/\(name)/plugin.json", manifest, mode: 0o644)
    try write("plugins/\(name)/\(name)", "#!/bin/sh\n\(body)\n")
  }

  /// A file to be a call's asset.
  func asset(_ text: String, type: String = "image/png") throws -> PluginCall.Asset {
    let path = try write("blobs/\(UUID().uuidString)", text, mode: 0o444)
    return PluginCall.Asset(path: path, type: type, sha256: "ab12", size: text.utf8.count)
  }

  /// A plugin that exists only in memory.
  static func plugin(
    _ manifest: Manifest, identity: String = "a", problem: String? = nil
  ) -> Plugin {
    Plugin(
      richType: "test", manifest: manifest, executable: "/test", interpreter: nil, folder: "/",
      roots: ["/test"], identity: identity, problem: problem)
  }

  /// A new folder for a process, without one.
  func processFolder() throws -> ProcessFolder {
    try #require(
      ProcessFolder(
        in: "\(folder)/tmp", for: .server(reason: "it is a test"), host.environment.launcher))
  }

  /// The error of a call; nil if it succeeds.
  func error(_ call: PluginCall) async -> PluginError? {
    do throws(PluginError) {
      _ = try await host.respond(to: call)
      return nil
    } catch { return error }
  }

  /// The content of the answer to a plain render, as text.
  func text(_ richType: String) async throws -> String {
    try await text(PluginCall(verb: .render, richType: richType, id: "7"))
  }

  func text(_ call: PluginCall) async throws -> String {
    let reply = try await host.respond(to: call)
    return switch reply.body {
    case .bytes(let bytes): String(decoding: bytes, as: UTF8.self)
    case .file(let file): try String(contentsOfFile: file.path, encoding: .utf8)
    case .asset: "(asset)"
    }
  }

  /// The code of a plain render's error; nil if it succeeds.
  func code(_ richType: String) async -> PluginError.Code? {
    await error(PluginCall(verb: .render, richType: richType, id: "7"))?.code
  }
}
