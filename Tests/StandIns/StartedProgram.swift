package import Foundation
import Synchronization

/// A program that a test has started (posix_spawn(3)): it has its three standard descriptors, and no other of ours.
///
/// Not Foundation's `Process`: it copies the list of open descriptors from behind the end of a buffer, and crashes at
/// certain numbers of them (1,354); it takes longer the more there are; and its handler keeps one for each child.
package final class StartedProgram: Sendable {
  package let pid: pid_t
  private let life: Life

  /// Starts the program in a process group of its own, with no signal blocked or ignored.
  ///
  /// The descriptors given remain the caller's. Without one it has no input, and writes where we write.
  package init(
    _ path: String, _ arguments: [String] = [],
    environment: [String: String] = ProcessInfo.processInfo.environment, folder: String? = nil,
    input: FileHandle? = nil, output: FileHandle? = nil, errors: FileHandle? = nil
  ) throws {
    let life = Life()
    let place = folder.map { ["/usr/bin/env", "--chdir", $0, "--"] } ?? []
    let words = place + [path] + arguments
    // A thread of its own, which lasts as long as the child: the kernel takes that one for the parent (PR_SET_PDEATHSIG).
    Thread.detachNewThread {
      life.run {
        try Self.spawn(
          words, environment.map { "\($0)=\($1)" },
          descriptors: (input?.fileDescriptor, output?.fileDescriptor, errors?.fileDescriptor))
      }
    }
    (pid, self.life) = (try life.waitForStart(), life)
  }

  /// Sends it a signal, if it has not ended.
  package func send(_ signal: Int32) { life.ifRunning { kill(pid, signal) } }

  /// Waits for its end; the exit code, or minus the signal that ended it.
  package func exitCode() async -> Int32 {
    await withCheckedContinuation { continuation in
      life.whenEnded { continuation.resume(returning: $0) }
    }
  }

  /// Waits for its end on this thread; the exit code, or minus the signal that ended it.
  @discardableResult package func waitForEnd() -> Int32 { life.waitForEnd() }

  /// Runs a program to its end; its exit code, or minus the signal that ended it, and what it printed.
  package static func run(
    _ path: String, _ arguments: [String] = [],
    environment: [String: String] = ProcessInfo.processInfo.environment,
    input: FileHandle? = nil, errors: FileHandle? = nil
  ) throws -> (exitCode: Int32, output: Data) {
    let pipe = Pipe()
    let program = try StartedProgram(
      path, arguments, environment: environment, input: input, output: pipe.fileHandleForWriting,
      errors: errors)
    try pipe.fileHandleForWriting.close()
    let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
    return (program.waitForEnd(), data)
  }

  private typealias CloseFrom =
    @convention(c) (
      UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32
    ) -> Int32

  /// glibc's `posix_spawn_file_actions_addclosefrom_np`, which Swift does not import.
  private static let closeFrom = dlsym(
    dlopen(nil, RTLD_NOW), "posix_spawn_file_actions_addclosefrom_np"
  ).map { unsafeBitCast($0, to: CloseFrom.self) }

  private static func spawn(
    _ words: [String], _ environment: [String],
    descriptors: (input: Int32?, output: Int32?, errors: Int32?)
  ) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    if let input = descriptors.input {
      posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
    } else {
      posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    }
    if let output = descriptors.output {
      posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
    }
    if let errors = descriptors.errors {
      posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO)
    }
    guard let closeFrom, closeFrom(&actions, STDERR_FILENO + 1) == 0 else {
      throw CocoaError(.featureUnsupported)
    }

    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    sigfillset(&signals)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    posix_spawnattr_setflags(
      &attributes,
      Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP))

    let argv = words.map { strdup($0) } + [nil]
    let envp = environment.map { strdup($0) } + [nil]
    defer { for text in argv + envp { free(text) } }
    var child = pid_t()
    let error = posix_spawn(&child, words[0], &actions, &attributes, argv, envp)
    guard error == 0 else {
      throw CocoaError(
        .executableNotLoadable,
        userInfo: [NSLocalizedDescriptionKey: "\(words[0]): \(String(cString: strerror(error)))"])
    }
    return child
  }
}

/// What has become of a child, for all who wait for it.
private final class Life: Sendable {
  private struct State {
    var start: Result<pid_t, any Error>?
    var exitCode: Int32?
    var waiting: [@Sendable (Int32) -> Void] = []
  }

  private let state = Mutex(State())
  private let started = DispatchSemaphore(value: 0)

  /// Starts the child and waits for its end.
  func run(_ start: () throws -> pid_t) {
    let result = Result { try start() }
    state.withLock { $0.start = result }
    started.signal()
    guard case .success(let pid) = result else { return }
    // Its number is its own until `waitpid`, during which nobody sends a signal to it.
    var facts = siginfo_t()
    while waitid(P_PID, id_t(pid), &facts, WEXITED | WNOWAIT) != 0, errno == EINTR {}
    let (code, waiting) = state.withLock { state in
      var status: Int32 = 0
      waitpid(pid, &status, 0)
      // WIFSIGNALED, WTERMSIG and WEXITSTATUS, which Swift does not import.
      let code = status & 0x7F == 0 ? status >> 8 & 0xFF : -(status & 0x7F)
      state.exitCode = code
      defer { state.waiting = [] }
      return (code, state.waiting)
    }
    for body in waiting { body(code) }
  }

  func waitForStart() throws -> pid_t {
    started.wait()
    guard let start = state.withLock({ $0.start }) else { throw CancellationError() }
    return try start.get()
  }

  func whenEnded(_ body: @escaping @Sendable (Int32) -> Void) {
    let exitCode = state.withLock { state in
      if state.exitCode == nil { state.waiting.append(body) }
      return state.exitCode
    }
    if let exitCode { body(exitCode) }
  }

  func waitForEnd() -> Int32 {
    let ended = DispatchSemaphore(value: 0)
    whenEnded { _ in ended.signal() }
    ended.wait()
    return state.withLock { $0.exitCode } ?? 0
  }

  func ifRunning(_ body: () -> Void) {
    state.withLock { if $0.exitCode == nil { body() } }
  }
}
