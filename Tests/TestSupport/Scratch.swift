package import Foundation
import Media
package import PluginHost
package import Store
import Synchronization
package import Primitives
import Waiting

/// A temporary folder that is removed with the last reference to it.
package final class Scratch: Sendable {
  package let path: String

  package init() throws {
    path = NSTemporaryDirectory() + "/richpush-test-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// The store in `data/`.
  package func store(now: @escaping @Sendable () -> Date = { Date() }) throws -> Store {
    try Store(folder: path + "/data", now: now)
  }

  // MARK: - Files

  /// Writes a file in one step, and creates the folders that it needs.
  package func write(_ text: String, to name: String, mode: Int = 0o644) throws {
    let file = URL(filePath: path + "/" + name)
    try makeFolder((name as NSString).deletingLastPathComponent)
    let draft = URL(filePath: path + "/" + UUID().uuidString)
    try Data(text.utf8).write(to: draft)
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: draft.path)
    try? FileManager.default.removeItem(at: file)
    try FileManager.default.moveItem(at: draft, to: file)
  }

  /// The text of a file; nil if there is none.
  package func read(_ name: String) -> String? {
    try? String(contentsOfFile: path + "/" + name, encoding: .utf8)
  }

  /// Removes a file or a folder.
  package func remove(_ name: String) throws {
    try FileManager.default.removeItem(atPath: path + "/" + name)
  }

  /// Creates a folder and those above it.
  package func makeFolder(_ name: String) throws {
    try FileManager.default.createDirectory(
      atPath: path + "/" + name, withIntermediateDirectories: true)
  }

  /// The names in a folder, without those that begin with a dot.
  package func names(in folder: String) -> [String] {
    let names = try? FileManager.default.contentsOfDirectory(atPath: path + "/" + folder)
    return (names ?? []).filter { !$0.hasPrefix(".") }.sorted()
  }

  // MARK: - Plugins

  /// The folder with `richpush-exec`: that of the program that runs the tests.
  package static var programs: String {
    let program = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    return ((program ?? "") as NSString).deletingLastPathComponent
  }

  /// Installs a shell script as the plugin of a rich type.
  package func installPlugin(_ name: String, manifest: String = "{}", _ script: String) throws {
    try write(manifest, to: "plugins/\(name)/plugin.json")
    try write("#!/bin/sh\n" + script + "\n", to: "plugins/\(name)/\(name)", mode: 0o755)
  }

  /// A host of the plugins that were installed; they are not isolated, so that a script can wait for a
  /// file of the test (see ``Gate``).
  package func pluginHost() throws -> PluginHost {
    try makeFolder("plugins")
    try makeFolder("tmp")
    var configuration = PluginConfiguration(
      folder: path + "/plugins", executables: nil, launcher: Self.programs + "/richpush-exec",
      temporaryFolder: path + "/tmp")
    configuration.sandbox = .off
    return try PluginHost(configuration: configuration)
  }
}

/// A named pipe that a plugin's script waits at; see ``command``.
package final class Gate: Sendable {
  private let path: String
  /// The writing end, kept from when a script was first seen to wait: without it the script would go on.
  private let writer = Mutex<Int32?>(nil)

  /// Creates the pipe.
  package init(in scratch: Scratch, _ name: String = "gate") {
    path = scratch.path + "/" + name
    mkfifo(path, 0o666)
    chmod(path, 0o666)
  }

  deinit { writer.withLock { $0 }.map { _ = close($0) } }

  /// The command of a script that waits here.
  package var command: String { "read -r line <'\(path)'" }

  /// Whether a script waits here now.
  package var isWaitedAt: Bool {
    writer.withLock { writer in
      if writer != nil { return true }
      // Without a reader, opening for writing fails at once with ENXIO.
      let descriptor = Glibc.open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
      if descriptor >= 0 { writer = descriptor }
      return descriptor >= 0
    }
  }

  /// Lets the script that waits go on.
  package func open() async throws {
    try await eventually("a plugin waits at \(path)") { isWaitedAt }
    writer.withLock { writer in
      if let descriptor = writer.take() {
        _ = write(descriptor, "\n", 1)
        close(descriptor)
      }
    }
  }
}

/// The lines of a log.
package final class LogLines: Sendable {
  private let lines = Mutex<[String]>([])

  package init() {}

  /// A log that is recorded here.
  ///
  /// A line begins with the request's ID, if it is about a request.
  package var log: Log {
    Log { [self] entry in record((entry.request.map { $0 + ": " } ?? "") + entry.text) }
  }

  /// Adds a line.
  package func record(_ line: String) { lines.withLock { $0.append(line) } }

  package var all: [String] { lines.withLock { $0 } }

  /// Whether a line contains the text.
  package func contain(_ text: String) -> Bool { all.contains { $0.contains(text) } }

  /// Removes and returns the lines so far.
  package func take() -> [String] {
    lines.withLock { lines in
      defer { lines = [] }
      return lines
    }
  }
}
