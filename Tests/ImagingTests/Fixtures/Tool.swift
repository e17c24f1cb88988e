import Foundation

/// Programs of Debian and PyPI, asked for a second opinion.
enum Tool {
  struct Failure: Error { let command: String }

  /// What a shell command writes for bytes on its standard input; `$file` in it is a file of these bytes.
  static func run(_ command: String, _ input: [UInt8] = []) throws -> [UInt8] {
    let folder = FileManager.default.temporaryDirectory.appending(path: "richpush-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "in")
    try Data(input).write(to: file)
    let line = "export PATH=\(tools):/usr/bin:/bin; cd \(folder.path); file=in; { \(command); }"
    guard system("\(line) <in >out 2>errors") == 0 else { throw Failure(command: command) }
    return [UInt8](try Data(contentsOf: folder.appending(path: "out")))
  }

  /// The same, as text.
  static func text(_ command: String, _ input: [UInt8] = []) throws -> String {
    String(decoding: try run(command, input), as: UTF8.self)
  }

  /// The repository.
  static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// What `make tools` installed from PyPI.
  static let tools = root.appending(path: ".build/tools/bin").path
}
