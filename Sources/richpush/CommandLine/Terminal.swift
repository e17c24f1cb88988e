import Glibc
import Primitives
import Synchronization

/// Input and output: results on standard output, everything else on standard error.
enum Terminal {
  private static let output = FileDescriptor(owning: STDOUT_FILENO)
  private static let errors = FileDescriptor(owning: STDERR_FILENO)
  private static let failure = Mutex<Errno?>(nil)

  /// Why something that was printed is not in standard output; nil if all of it is, or nobody reads it any more.
  static var outputFailure: Errno? { failure.withLock { $0 } }

  /// Prints a line, without the buffering of `Swift.print` into a pipe.
  static func print(_ line: TerminalText) {
    write("\(line.text)\n", to: output)
  }

  /// Writes a table as it is, which has nothing that a terminal would obey.
  static func write(table: [UInt8]) {
    write(String(decoding: table, as: UTF8.self), to: output)
  }

  /// Shows a text on standard error that replaces the previous one (ECMA-48: EL), on a terminal only.
  static func showProgress(_ progress: TerminalText) {
    guard isatty(STDERR_FILENO) == 1 else { return }
    let text = progress.text
    // Cut to one line, because the next call replaces only one.
    let line = width(of: STDERR_FILENO).map { String(text.prefix($0 - 1)) } ?? text
    write("\r\u{1B}[2K\(line)", to: errors)
  }

  /// Whether standard output is a terminal.
  static var isInteractive: Bool { isatty(STDOUT_FILENO) == 1 }

  /// The number of columns of standard output; nil if it is a file or a pipe.
  static var width: Int? { width(of: STDOUT_FILENO) }

  private static func width(of descriptor: Int32) -> Int? {
    // `struct winsize`, which belongs to another module from one build to the next: rows, columns, and the same in pixels.
    var size: (UInt16, columns: UInt16, UInt16, UInt16) = (0, 0, 0, 0)
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.columns > 0 else { return nil }
    return Int(size.columns)
  }

  /// Prints a line with the program's name to standard error.
  static func printError(_ line: TerminalText) {
    write("richpush: \(line.text)\n", to: errors)
  }

  /// Reads a password: one line on standard input, with a prompt on a terminal.
  static func readPassword() throws(CommandLineError) -> String {
    guard let line = readSecret("password:"), !line.isEmpty else {
      throw .usage("the password must be one line on standard input")
    }
    // What `readLine` makes of bytes that are no UTF-8.
    guard !line.unicodeScalars.contains("\u{FFFD}") else {
      throw .usage("the password is not in UTF-8; nothing was done with it")
    }
    return line
  }

  /// Reads a new password, on a terminal twice, because it is not displayed.
  static func readNewPassword() throws(CommandLineError) -> String {
    let password = try readPassword()
    guard isatty(STDIN_FILENO) == 0 || readSecret("the same password again:") == password else {
      throw .failed("the passwords differ; nothing was changed")
    }
    return password
  }

  /// Reads a line; on a terminal with a prompt and without echo.
  private static func readSecret(_ prompt: TerminalText) -> String? {
    var initial = termios()
    guard tcgetattr(STDIN_FILENO, &initial) == 0 else { return readLine() }
    printError(prompt)
    var silent = initial
    silent.c_lflag &= ~tcflag_t(ECHO)
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent)
    defer { tcsetattr(STDIN_FILENO, TCSAFLUSH, &initial) }
    return readLine()
  }

  // What a command does goes on; its end tells of an error, unless the reader has ended (`richpush device | head -1`).
  private static func write(_ text: String, to file: FileDescriptor?) {
    do throws(Errno) { try file?.write(Array(text.utf8)) } catch {
      guard file === output, error.rawValue != EPIPE else { return }
      failure.withLock { $0 = $0 ?? error }
    }
  }
}
