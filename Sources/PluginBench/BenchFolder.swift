import Foundation

/// A temporary folder of this process's own, which goes with its owner.
final class BenchFolder: Sendable {
  let path: String

  init() throws(PluginBench.Problem) {
    path = FileManager.default.temporaryDirectory.appending(path: "richpush-bench-\(UUID())").path
    do {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      // A plugin with a user of its own must be able to reach what is in it.
      try FileManager.default.setAttributes([.posixPermissions: 0o711], ofItemAtPath: path)
    } catch { throw PluginBench.Problem(reason: error.localizedDescription) }
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }
}
