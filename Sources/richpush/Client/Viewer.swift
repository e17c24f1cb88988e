import Foundation

/// The program of this desktop that shows a file, if there is one.
struct Viewer {
  private let program: URL

  /// Looks for a viewer on the path; nil on a machine without a screen.
  init?(path: String) {
    let names = ["xdg-open", "open", "eog", "feh", "display"]
    let folders = path.split(separator: ":").map { URL(filePath: String($0)) }
    let programs = names.flatMap { name in folders.map { $0.appending(path: name) } }
    guard let program = programs.first(where: { Self.isExecutable($0) }) else { return nil }
    self.program = program
  }

  /// Shows a file; the viewer goes on by itself.
  func show(_ file: URL) {
    let process = Process()
    process.executableURL = program
    process.arguments = [file.path]
    do {
      try process.run()
    } catch {
      Terminal.complain("\(program.path) did not start: \(error.localizedDescription)")
    }
  }

  private static func isExecutable(_ file: URL) -> Bool {
    FileManager.default.isExecutableFile(atPath: file.path)
  }
}
