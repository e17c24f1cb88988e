import Foundation

/// The program's two outputs: results on standard output, everything else on standard error.
enum Terminal {
  /// Prints a line at once, also into a pipe, where `print` would keep it back.
  static func say(_ line: String) {
    write(line, to: .standardOutput)
  }

  /// Shows a text on standard error that the next one replaces (ECMA-48: EL), on a terminal only.
  static func showProgress(_ text: String) {
    guard isatty(STDERR_FILENO) == 1 else { return }
    try? FileHandle.standardError.write(contentsOf: Data("\r\u{1B}[2K\(text)".utf8))
  }

  /// Prints a line for the person at the keyboard, under the program's name.
  static func complain(_ line: String) {
    write("richpush: \(line)", to: .standardError)
  }

  /// Asks for a password: one line on standard input.
  static func readPassword() throws(CommandLineError) -> String {
    if let line = readSecret("the password, then Enter:"), !line.isEmpty { return line }
    throw .usage("the password is one line on standard input")
  }

  /// Reads a line that nobody should see: a terminal shows the prompt and echoes nothing.
  private static func readSecret(_ prompt: String) -> String? {
    var usual = termios()
    guard tcgetattr(STDIN_FILENO, &usual) == 0 else { return readLine() }
    complain(prompt)
    var silent = usual
    silent.c_lflag &= ~tcflag_t(ECHO)
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent)
    defer { tcsetattr(STDIN_FILENO, TCSAFLUSH, &usual) }
    return readLine()
  }

  /// A reader that went away (`richpush device | head -1`) is no error of ours.
  private static func write(_ line: String, to file: FileHandle) {
    try? file.write(contentsOf: Data("\(line)\n".utf8))
  }
}
