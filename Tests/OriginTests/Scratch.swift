import Foundation
import Store

@testable import Origin

/// A folder of a test's own, gone with the test.
final class Scratch {
  let path: String

  init() throws {
    path = NSTemporaryDirectory() + "/origin-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func store() throws -> Store { try Store(folder: path + "/data") }

  /// Writes a file below the folder, and the folders it needs.
  func write(_ text: String, to name: String) throws {
    let url = URL(fileURLWithPath: path + "/" + name)
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: url)
  }
}

/// The application's own, where a test also knows HTTP's.
typealias TheRefusal = Refusal

extension Authenticator.Verdict {
  /// Who it is, if the password was right.
  var caller: Caller? { if case .caller(let caller) = self { caller } else { nil } }
}
