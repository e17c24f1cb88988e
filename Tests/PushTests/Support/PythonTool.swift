import Foundation
import StandIns

/// A program in `Tests/StandIns/Services` that needs what `make tools` installs from PyPI.
enum PythonTool {
  private static let tests = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
  private static let python = tests.deletingLastPathComponent()
    .appending(path: ".build/tools/bin/python3")

  static var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: python.path) }

  /// Runs a program with this input and returns the lines that it prints; its errors go to `errors`, or to ours.
  static func run(
    _ name: String, _ arguments: [String] = [], input: String = "", errors: FileHandle? = nil
  ) throws -> [String] {
    let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try Data(input.utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let text = try StartedProgram.run(
      python.path, [tests.appending(path: "StandIns/Services/\(name)").path] + arguments,
      input: try FileHandle(forReadingFrom: file), errors: errors
    ).output
    return String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
  }
}
