import CLinux
import Dispatch
import Glibc
import Primitives
import Synchronization

/// The process that starts all processes of plugins: `richpush-exec serve`.
///
/// It is small and has one thread, so that forking it is cheap. Starting each plugin from the server would
/// cost a close for each open descriptor.
///
/// A server that root starts launches it before it changes to another user: only the launcher keeps the
/// capabilities that user IDs for plugins need.
package final class PluginLauncher: Sendable {
  private struct Running {
    let socket: FileDescriptor
    let greeting: String
  }

  private struct State {
    var running: Running?
    /// What the last one reported.
    var greeting: String?
    var startedAt: ContinuousClock.Instant?
  }

  /// A launcher that ends at once is not started again before this time has passed.
  private static let restartPause = Duration.milliseconds(200)
  /// On a machine that stands still for seconds it is late.
  private static let greetingTimeout = timeval(tv_sec: 30, tv_usec: 0)
  /// Emptying a folder takes time; more than this means that the launcher hangs.
  private static let replyTimeout = Duration.seconds(30)

  private let path: String
  private let arguments: [String]
  private let log: Log
  private let state = Mutex(State())

  /// Starts the launcher and waits until it is ready.
  ///
  /// - Throws: ``PluginError/Code/busy`` if it cannot be started.
  package convenience init(_ configuration: PluginConfiguration) throws(PluginError) {
    self.init(startingLater: configuration)
    _ = try greeting()
  }

  /// A launcher that is started when it is first needed.
  init(startingLater configuration: PluginConfiguration) {
    (path, log) = (configuration.launcher, configuration.log)
    arguments =
      ["serve"] + (configuration.sandbox == .strict ? ["strict"] : [])
      + ["uids=\(configuration.uids.lowerBound)-\(configuration.uids.upperBound)"]
      + (configuration.user.map { ["user=\($0.id):\($0.group)"] } ?? [])
  }

  /// Starts a process under a supervisor.
  ///
  /// - Parameters:
  ///   - spec: What to run.
  ///   - descriptors: The supervisor's channel and the three standard streams.
  /// - Throws: ``PluginError/Code/busy`` if no process can be started, ``PluginError/environmentTooLarge``.
  func launch(_ spec: LaunchSpec, _ descriptors: [FileDescriptor]) throws(PluginError) {
    try send(try spec.encoded(), descriptors)
  }

  /// A regular file in the TMPDIR of a plugin that has a user of its own, opened by the launcher.
  func open(_ file: String, in folder: String, of user: PluginUser) async -> FileDescriptor? {
    await request(["open=\(file)", "write=\(folder)", "uid=\(user.id)"]).file
  }

  /// Removes the content of the TMPDIR of a plugin that has a user of its own.
  ///
  /// - Returns: Whether the folder is empty now.
  func empty(_ folder: String, of user: PluginUser) async -> Bool {
    await request(["empty=1", "write=\(folder)", "uid=\(user.id)"]).isDone
  }

  /// Sends a request that runs nothing, and waits off the caller's thread.
  private func request(_ words: [String]) async -> (isDone: Bool, file: FileDescriptor?) {
    await offThread(.userInitiated) { [self] in reply(to: LaunchSpec.encoded(words)) }
  }

  private func reply(to words: [UInt8]) -> (isDone: Bool, file: FileDescriptor?) {
    guard let channel = ProcessChannel.sockets(SOCK_SEQPACKET), let null = ProcessChannel.input(),
      (try? send(words, [channel.theirs, null, null, null])) != nil,
      channel.ours.waitForInput(timeout: Self.replyTimeout)
    else { return (false, nil) }
    var word = [UInt8](repeating: 0, count: 16)
    var number: Int32 = -1
    let count = clinux_receive(channel.ours.number, &word, word.count, &number)
    let file = FileDescriptor(owning: number)
    let isDone = count > 0 && word.prefix(count).elementsEqual("done".utf8)
    return (isDone, isDone ? file : nil)
  }

  private func send(_ words: [UInt8], _ descriptors: [FileDescriptor]) throws(PluginError) {
    for _ in 0..<2 {
      let socket = try running().socket
      let sent = withExtendedLifetime(descriptors) {
        clinux_send(
          socket.number, words, words.count, descriptors.map(\.number), descriptors.count)
      }
      if sent == words.count { return }
      guard [EPIPE, ECONNRESET, ENOTCONN].contains(errno) else { break }
      state.withLock { if $0.running?.socket === socket { $0.running = nil } }
    }
    throw .busy("No process can be started for the plugin now.")
  }

  /// Ends the launcher; supervisors then kill the plugins that still run.
  func stop() { state.withLock { $0.running = nil } }

  /// What the launcher reports about this kernel (``SandboxReport``).
  ///
  /// - Throws: ``PluginError/Code/busy`` if there is no launcher.
  func greeting() throws(PluginError) -> String { try running().greeting }

  private func running() throws(PluginError) -> Running {
    let running = state.withLock { state -> Running? in
      if let running = state.running { return running }
      if let last = state.startedAt, .now - last < Self.restartPause { return nil }
      state.startedAt = .now
      state.running = start()
      guard let running = state.running else { return nil }
      if let last = state.greeting, last != running.greeting {
        log(
          .error, "sandbox",
          "sandbox: the launcher of plugins was started again and has fewer rights: plugin list")
      }
      state.greeting = running.greeting
      return running
    }
    guard let running else {
      throw .busy("The launcher of plugins, \(path), cannot be started.")
    }
    return running
  }

  private func start() -> Running? {
    var pair: [Int32] = [-1, -1]
    let kind = Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue)
    // Both ends block: the launcher waits for requests, and this thread for its greeting.
    guard access(path, X_OK) == 0, socketpair(AF_UNIX, kind, 0, &pair) == 0,
      let ours = FileDescriptor(owning: pair[0]), let theirs = FileDescriptor(owning: pair[1])
    else { return nil }
    let process = ChildProcess(path, arguments, environment: [:], input: theirs)
    guard (try? process.start()) != nil, let greeting = readGreeting(from: ours) else { return nil }
    return Running(socket: ours, greeting: greeting)
  }

  private func readGreeting(from socket: FileDescriptor) -> String? {
    var timeout = Self.greetingTimeout
    setsockopt(
      socket.number, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    guard let bytes = try? socket.readSome(limit: 4096), !bytes.isEmpty else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }
}
