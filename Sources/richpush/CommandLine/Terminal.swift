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
    // A text that went on in the next line would not be replaced as a whole.
    let line = width(of: STDERR_FILENO).map { String(text.prefix($0 - 1)) } ?? text
    try? FileHandle.standardError.write(contentsOf: Data("\r\u{1B}[2K\(line)".utf8))
  }

  /// How many characters a line of standard output has; nil where it goes into a file or a pipe.
  static var width: Int? { width(of: STDOUT_FILENO) }

  private static func width(of descriptor: Int32) -> Int? {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
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

  /// Asks for a password that is to be set: on a terminal twice, since nobody sees what is typed.
  static func readNewPassword() throws(CommandLineError) -> String {
    let password = try readPassword()
    guard isatty(STDIN_FILENO) == 0 || readSecret("the same once more:") == password else {
      throw .failed("these are two passwords; nothing was changed")
    }
    return password
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
