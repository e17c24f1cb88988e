import Glibc
import PluginKit
import Primitives

/// Debian's `ffprobe` and `ffmpeg`, run within the limits and the sandbox of this plugin.
enum FFmpeg {
  static let damaged = Refusal("This film is damaged. Export it again.")
  static let slow = Refusal(
    "This film takes too long to prepare. Export it shorter or smaller.",
    detail: "the time of ffprobe or ffmpeg was used up")
  private static let missing = Refusal(
    "Films can't be prepared, because the server has no ffmpeg. Ask its operator to install it.",
    detail: "ffmpeg and ffprobe are not in /usr/local/bin, /usr/bin or /bin")

  /// The options that read a file: as MP4 or QuickTime only, which names no other files.
  static func input(_ path: String) -> [String] {
    ["-protocol_whitelist", "file", "-f", "mov", "-i", path]
  }

  /// When a program that still runs is ended: soon enough before the server ends the plugin to say why.
  private static let end: ContinuousClock.Instant = {
    let milliseconds = getenv("RICH_DEADLINE_MS").flatMap { Int(String(cString: $0)) } ?? 30_000
    return .now + .milliseconds(milliseconds - 3000)
  }()

  /// Runs `ffmpeg`; any damage is a failure.
  static func run(_ arguments: [String]) throws(Refusal) {
    _ = try output("ffmpeg", ["-y", "-nostdin", "-xerror", "-threads", "2"] + arguments)
  }

  /// Runs a program to its end; its errors go to the server's log.
  ///
  /// - Parameters:
  ///   - program: Its name.
  ///   - arguments: Its arguments, without the one that says what is logged.
  ///   - limit: The most that it may write, in bytes.
  /// - Returns: What it writes to standard output.
  /// - Throws: ``damaged`` if the program fails or writes more, ``slow`` if it needs more time than it may.
  static func output(
    _ program: String, _ arguments: [String], limit: Int = 1 << 20
  ) throws(Refusal) -> [UInt8] {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0, let output = FileDescriptor(owning: ends[0]) else {
      throw Refusal(status: 503, "The server has no free file descriptors.")
    }
    let end = end
    let process = spawn(program, ["-v", "error"] + arguments, output: ends[1])
    close(ends[1])
    guard let process else { throw missing }
    var bytes: [UInt8] = []
    var isLate = false
    while bytes.count <= limit {
      isLate = !output.isReadable(until: end)
      guard !isLate, let more = try? output.readSome(limit: 1 << 16), !more.isEmpty else { break }
      bytes += more
    }
    let isTooMuch = bytes.count > limit
    if isTooMuch || isLate { kill(process, SIGKILL) }
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    let isKilled = [SIGKILL, SIGXCPU].contains(status & 0x7F)
    guard !isKilled || isTooMuch else { throw slow }
    guard status == 0, !isTooMuch else { throw damaged }
    return bytes
  }

  private static func spawn(_ program: String, _ arguments: [String], output: Int32) -> pid_t? {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
    let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    let settings = ["LANG=C.UTF-8", "HOME=\(folder)", "TMPDIR=\(folder)"]
    let words = ([program] + arguments).map { (word: String) in strdup(word) }
    let variables = settings.map { (setting: String) in strdup(setting) }
    defer { for text in words + variables { free(text) } }
    var process = pid_t()
    let status = posix_spawnp(&process, program, &actions, nil, words + [nil], variables + [nil])
    return status == 0 ? process : nil
  }
}

extension FileDescriptor {
  /// Waits until there is something to read, or the end of the file.
  ///
  /// - Returns: False if there is nothing until then.
  fileprivate func isReadable(until end: ContinuousClock.Instant) -> Bool {
    var entry = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
    while true {
      let left = max(end - .now, .zero)
      let milliseconds =
        left.components.seconds * 1000
        + left.components.attoseconds / 1_000_000_000_000_000
      let count = poll(&entry, 1, Int32(clamping: milliseconds))
      if count >= 0 || errno != EINTR { return count > 0 }
    }
  }
}
