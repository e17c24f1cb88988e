import CLinux
import Glibc
import Primitives

/// What `richpush-exec` is to run, and within which limits.
///
/// `Sources/richpush-exec/launch_spec.h` describes the words.
struct LaunchSpec {
  /// The executable, and the folder it runs in.
  var program: String
  var folder: String
  /// It is killed after this time; nil means never.
  var deadline: Duration?
  /// The time between SIGTERM and SIGKILL when it is to stop.
  var gracePeriod = Duration.zero
  var memoryMiB: Int
  var cpuSeconds: Int?
  /// The size of its largest file, and of all its files together.
  var fileMiB: Int
  var spaceMiB: Int
  /// The processor time it may use between calls (``ControlMessage/idle``); nil means any.
  var idleCPUTime: Duration?
  var user: PluginUser
  var sandbox: Sandbox
  /// Its environment; a process for each call gets the call's variables instead.
  var environment: [(name: String, value: String)] = []
  /// Whether the supervisor runs the program once for each call (`supervise_calls`).
  var runsForEachCall = false

  /// What it can reach.
  struct Sandbox {
    var level: SandboxReport.Level
    /// Files and folders.
    var readable: [String]
    /// The one of these that only its user may enter: the folder of its calls' assets.
    var assets: String
    /// Its TMPDIR.
    var writable: String
    var network: Bool
  }

  /// Enough for a pipeline with helpers; a plugin with more descendants is a fork bomb.
  static let maximumProcesses = 64
  /// Enough for libraries and data, too few to exhaust the system's.
  private static let maximumFiles = 256

  /// The space for some files as large as the largest answer.
  static func spaceMiB(for limits: Manifest.Limits) -> Int { 4 * limits.outputMiB + 64 }

  /// Less than the kernel's default buffer for a socket (net.core.wmem_default, 208 KiB), which limits packets.
  private static let maximumSize = 160 * 1024
  /// One variable may have 128 KiB (MAX_ARG_STRLEN, execve(2)).
  private static let maximumVariable = 131_000

  /// The words, each ended by NUL.
  func encoded() throws(PluginError) -> [UInt8] {
    var words = [
      "program=\(program)", "folder=\(folder)", "grace=\(gracePeriod.milliseconds)",
      "data=\(memoryMiB << 20)", "memory=\(memoryMiB << 20)", "file-size=\(fileMiB << 20)",
      "files=\(Self.maximumFiles)", "processes=\(Self.maximumProcesses)",
      "space=\(spaceMiB << 20)",
    ]
    if user.isDedicated { words += ["uid=\(user.id)", "assets=\(sandbox.assets)"] }
    if let deadline { words.append("deadline=\(deadline.milliseconds)") }
    if let idleCPUTime { words.append("idle-cpu=\(idleCPUTime.milliseconds)") }
    if let cpuSeconds { words.append("cpu=\(cpuSeconds)") }
    words += ["sandbox=\(sandbox.level.rawValue)", "write=\(sandbox.writable)"]
    words += sandbox.readable.map { "read=\($0)" }
    if sandbox.network { words.append("network=1") }
    if runsForEachCall { words.append("calls=1") }
    let bytes = Self.encoded(words + ["--"]) + (try Self.encoded(environment))
    guard bytes.count <= Self.maximumSize else { throw .environmentTooLarge }
    return bytes
  }

  /// Words, each ended by NUL.
  static func encoded(_ words: [String]) -> [UInt8] { words.flatMap { Array($0.utf8) + [0] } }

  /// Variables as words, each ended by NUL.
  static func encoded(
    _ environment: [(name: String, value: String)]
  ) throws(PluginError) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(2048)
    for (name, value) in environment {
      guard name.utf8.count + value.utf8.count < maximumVariable else { throw .environmentTooLarge }
      bytes += name.utf8
      bytes.append(UInt8(ascii: "="))
      bytes += value.utf8
      bytes.append(0)
    }
    guard bytes.count <= maximumSize else { throw .environmentTooLarge }
    return bytes
  }
}

/// A message to the supervisor of a running plugin: one byte.
enum ControlMessage: UInt8 {
  case kill = 1
  /// The process has no call.
  case idle
  /// The process has a call.
  case busy

  /// Sends the message; one to a supervisor that has ended is lost.
  func send(to supervisor: FileDescriptor) {
    var byte = rawValue
    Glibc.send(supervisor.number, &byte, 1, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
  }
}

/// How a process ended, as its supervisor reports it.
enum ProcessExit: Sendable, Hashable {
  case exited(Int)
  case killed(signal: Int)
  /// It was killed for one of these.
  case timedOut
  case tooManyProcesses
  case tooMuchSpace
  case tooMuchMemory
  case uncountable
  case tooMuchIdleCPUTime
  /// It was stopped by the host.
  case stopped
  /// It was never run: the `errno` and the step that failed.
  case notStarted(Int, step: String)
  /// The supervisor ended without a report.
  case supervisorLost

  /// Parses a report; without a valid one the supervisor is lost.
  init(report: some Sequence<UInt8>) {
    let words = String(decoding: Array(report), as: UTF8.self).split(whereSeparator: \.isWhitespace)
    guard words.count >= 4, let value = Int(words[1]) else {
      self = .supervisorLost
      return
    }
    self =
      switch (words[0], value) {
      case ("exited", _): .exited(value)
      case ("killed", _): .killed(signal: value)
      case ("timed-out", _): .timedOut
      case ("stopped", _): .stopped
      case ("exceeded", 1): .tooManyProcesses
      case ("exceeded", 2): .tooMuchSpace
      case ("exceeded", 3): .tooMuchIdleCPUTime
      case ("exceeded", 4): .tooMuchMemory
      case ("exceeded", 5): .uncountable
      case ("failed", _): .notStarted(value, step: words.count > 4 ? String(words[4]) : "order")
      default: .supervisorLost
      }
  }

  /// The end of a sentence that begins with the plugin.
  var sentence: String {
    switch self {
    case .exited(let status): "exited with status \(status)"
    case .killed(let signal): "was killed by signal \(signal)"
    case .timedOut: "was killed at its deadline"
    case .tooManyProcesses: "had more than \(LaunchSpec.maximumProcesses) processes"
    case .tooMuchSpace: "filled its TMPDIR beyond the limit"
    case .tooMuchMemory: "held more memory or sockets than its limit"
    case .uncountable: "had memory, files or processes that could not be counted"
    case .tooMuchIdleCPUTime: "used more processor time without a call than one may take"
    case .stopped: "was stopped"
    case .notStarted(let code, let step):
      "could not be started: \(Self.cause(code, step)) (\(step), errno \(code))"
    case .supervisorLost: "lost its supervisor"
    }
  }

  private static func cause(_ code: Int, _ step: String) -> String {
    switch (step, Int32(clamping: code)) {
    case ("execve", ENOENT): "its interpreter, or a program's loader, is not there"
    case ("execve", ENOEXEC): "its file is no program of this machine, nor a script with #!"
    case ("execve", EACCES): "the system does not let its file, or its interpreter, be executed"
    case (_, let code): String(cString: strerror(code))
    }
  }

  /// Throws the error of a call whose process ended like this (`docs/PLUGINS.md`, "what the caller gets").
  func check(_ plugin: Plugin) throws(PluginError) {
    switch self {
    case .exited(0): return
    case .exited(Int(EX_DATAERR)):
      throw PluginError(
        .invalidContent, "The plugin \(plugin.richType) refuses the content.",
        cause: "exit 65 (the data is wrong)")
    case .exited(Int(EX_UNAVAILABLE)), .exited(Int(EX_TEMPFAIL)),
      .notStarted(Int(EAGAIN), _), .notStarted(Int(ENFILE), _), .notStarted(Int(EMFILE), _):
      throw .busy("The plugin \(plugin.richType) is not available now.", cause: "it \(sentence)")
    case .timedOut:
      throw PluginError(
        .timedOut, "The plugin \(plugin.richType) took too long.",
        cause: "killed at its deadline of \(plugin.manifest.limits.seconds) s")
    case .tooMuchSpace:
      let space = LaunchSpec.spaceMiB(for: plugin.manifest.limits)
      throw plugin.failure("its TMPDIR held more than \(space) MiB")
    case .tooMuchMemory:
      let memory = plugin.manifest.limits.memoryMiB
      throw plugin.failure("its processes held more than \(memory) MiB of memory, or 128 sockets")
    default: throw plugin.failure("it \(sentence)")
    }
  }
}
