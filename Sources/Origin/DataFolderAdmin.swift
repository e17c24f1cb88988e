import PluginHost
import Store

/// A data folder's upkeep, for the command line.
package struct DataFolderAdmin: Sendable {
  private let store: Store

  /// Opens the data folder beside a running server, or without one.
  package init(data: String) throws { store = try Store(folder: data, access: .shared) }

  /// Verifies every blob, rendition and reference; repairs what can be derived again.
  ///
  /// - Returns: lines for people, and whether nothing is wrong any more.
  package func check(repairing: Bool) async throws -> (lines: [String], isSound: Bool) {
    let report = try await store.check(repairing: repairing)
    var lines = report.findings.map { ($0.isRepaired ? "repaired: " : "wrong: ") + $0.sentence }
    lines.append("\(report.blobs) blobs and \(report.renditions) renditions verified")
    return (lines, report.isSound)
  }

  /// Copies everything but the renditions into a new folder, while the server runs.
  ///
  /// - Parameters:
  ///   - path: The folder to make.
  ///   - programs: The folder of `richpush-exec`, which knows what plugins may read.
  /// - Throws: `ConfigurationError` if plugins may read the new folder.
  package func backup(to path: String, programs: String) async throws {
    let launcher = programs + "/richpush-exec"
    if let readable = try PluginHost.readableFolder(holding: path, launcher: launcher) {
      throw ConfigurationError("plugins may read \(readable): back up to another folder")
    }
    try await store.backup(to: path)
  }

  /// Makes a data folder from a backup; there must be nothing at `path`, or an empty folder.
  package static func restore(from backup: String, to path: String) throws {
    try Store.restore(from: backup, to: path)
  }
}
