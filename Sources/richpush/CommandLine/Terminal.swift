import Foundation

/// The program's two outputs: results on standard output, everything else on standard error.
enum Terminal {
  /// Prints a line at once, also into a pipe, where `print` would keep it back.
  static func say(_ line: String) {
    write(line, to: .standardOutput)
  }

  /// Prints a line for the person at the keyboard, under the program's name.
  static func complain(_ line: String) {
    write("richpush: \(line)", to: .standardError)
  }

  /// A reader that went away (`richpush device | head -1`) is no error of ours.
  private static func write(_ line: String, to file: FileHandle) {
    try? file.write(contentsOf: Data("\(line)\n".utf8))
  }
}
