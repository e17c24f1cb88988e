import Store

/// A data folder's upkeep, for the command line.
package struct Upkeep: Sendable {
  private let store: Store

  /// Opens the data folder beside a running server, or without one.
  package init(data: String) throws { store = try Store(folder: data, access: .guest) }

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
  package func backup(to path: String) async throws { try await store.backup(to: path) }

  /// Makes a data folder from a backup; there must be nothing at `path`, or an empty folder.
  package static func restore(from backup: String, to path: String) throws {
    try Store.restore(from: backup, to: path)
  }
}
