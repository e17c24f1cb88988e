import Glibc

/// A program that runs as a child of this process (posix_spawn(3)).
///
/// It inherits the standard descriptors (all others of this process are opened with `O_CLOEXEC`), and no signal is
/// blocked or ignored in it.
///
/// Foundation's `Process` would link ICU, which makes a program three times as large.
package struct ChildProcess {
  private let program: String
  private let arguments: [String]
  private let environment: [String: String]
  private let input: FileDescriptor?

  /// Describes a program by its path, with another standard input if there is one.
  package init(
    _ program: String, _ arguments: [String], environment: [String: String],
    input: FileDescriptor? = nil
  ) {
    (self.program, self.arguments) = (program, arguments)
    (self.environment, self.input) = (environment, input)
  }

  /// Runs the program and waits for its end.
  ///
  /// - Returns: Its exit status; nil if a signal ended it.
  package func run() throws(Errno) -> Int32? {
    Self.waitForEnd(of: try spawn(inBackground: false))
  }

  /// Starts the program in the background: its output is discarded, and the terminal's Ctrl-C does not reach it.
  ///
  /// A thread of its own collects its exit status, so that it does not remain as a zombie.
  package func start() throws(Errno) {
    let child = try spawn(inBackground: true)
    DetachedThread.start(named: "child") { _ = Self.waitForEnd(of: child) }
  }

  private func spawn(inBackground: Bool) throws(Errno) -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    if let input { posix_spawn_file_actions_adddup2(&actions, input.number, STDIN_FILENO) }
    if inBackground {
      posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
    }

    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    sigfillset(&signals)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    let group = inBackground ? POSIX_SPAWN_SETPGROUP : 0
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | group))

    var child = pid_t()
    let error = Self.withTexts([program] + arguments) { arguments in
      Self.withTexts(environment.map { "\($0)=\($1)" }) { environment in
        posix_spawn(&child, program, &actions, &attributes, arguments, environment)
      }
    }
    if error != 0 { throw Errno(rawValue: error) }
    return child
  }

  /// Calls `body` with the texts as C strings, and nil after the last.
  private static func withTexts<Result>(
    _ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
  ) -> Result {
    let copies = texts.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    return body(copies + [nil])
  }

  private static func waitForEnd(of child: pid_t) -> Int32? {
    var status: Int32 = 0
    _ = try? FileDescriptor.retrying { Int(waitpid(child, &status, 0)) }
    // WIFEXITED and WEXITSTATUS, which Swift does not import.
    return status & 0x7F == 0 ? status >> 8 & 0xFF : nil
  }
}
