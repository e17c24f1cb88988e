import CLinux
import Foundation
package import Primitives

/// The processes that start all processes of plugins: `richpush-exec serve`.
///
/// They are small and have one thread, so that forking them is cheap. There are two: each starts the other one
/// again (`Sources/richpush-exec/launcher.h`), so that the server calls `Process.run()` once, while few descriptors
/// are open. With thousands that takes long, and with 1,354 it has crashed: it reads past the end of its list.
///
/// A server that root starts launches them before it changes to another user: only they keep the capabilities
/// that user IDs for plugins need.
package final class PluginLauncher: Sendable {
  /// On a machine that stands still for seconds the greeting is late.
  private static let greetingTimeout = timeval(tv_sec: 30, tv_usec: 0)
  /// Emptying a folder takes time; more than this means that the launcher hangs.
  private static let replyTimeout = Duration.seconds(30)

  /// How well plugins are isolated on this machine.
  let report: SandboxReport
  private let socket: FileDescriptor

  /// Starts the processes and waits until they are ready; to be called while few descriptors are open.
  ///
  /// - Throws: ``PluginError/Code/busy`` if they cannot be started.
  package init(_ configuration: PluginConfiguration) throws(PluginError) {
    socket = try Self.start(configuration)
    guard let greeting = Self.readGreeting(from: socket) else {
      throw Self.failure(configuration)
    }
    guard let report = SandboxReport(level: configuration.sandbox, greeting: greeting) else {
      throw .busy("The launcher of plugins is of another version.")
    }
    self.report = report
  }

  private static func failure(_ configuration: PluginConfiguration) -> PluginError {
    .busy("The launcher of plugins, \(configuration.launcher), cannot be started.")
  }

  /// Starts the processes; the other end of the socket is theirs alone then.
  private static func start(
    _ configuration: PluginConfiguration
  ) throws(PluginError) -> FileDescriptor {
    var pair: [Int32] = [-1, -1]
    let kind = Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue)
    // Both ends block: the launcher waits for requests, and this thread for its greeting.
    guard socketpair(AF_UNIX, kind, 0, &pair) == 0, let ours = FileDescriptor(owning: pair[0]),
      let theirs = FileDescriptor(owning: pair[1])
    else { throw .noDescriptors }
    let process = Process()
    process.executableURL = URL(filePath: configuration.launcher)
    process.arguments =
      ["serve"] + (configuration.sandbox == .strict ? ["strict"] : [])
      + ["uids=\(configuration.uids.lowerBound)-\(configuration.uids.upperBound)"]
      + (configuration.user.map { ["user=\($0.id):\($0.group)"] } ?? [])
      + configuration.rootFiles.map { "file=" + URL(fileURLWithPath: $0).path }
    process.environment = [:]
    // Not this process's, which the user may not be allowed to enter, and of which a disk could not be unmounted.
    process.currentDirectoryURL = URL(filePath: "/")
    process.standardInput = FileHandle(fileDescriptor: theirs.number, closeOnDealloc: false)
    process.standardOutput = FileHandle.nullDevice
    // Nobody waits for its end: a thread of Foundation's does, and the socket tells.
    let hasStarted = withExtendedLifetime(theirs) { (try? process.run()) != nil }
    guard hasStarted else { throw failure(configuration) }
    return ours
  }

  private static func readGreeting(from socket: FileDescriptor) -> String? {
    var timeout = greetingTimeout
    setsockopt(
      socket.number, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    guard let bytes = try? socket.readSome(limit: 4096), !bytes.isEmpty else { return nil }
    return String(decoding: bytes, as: UTF8.self)
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

  /// One of the configuration's ``PluginConfiguration/rootFiles``, by its index, opened as root does.
  ///
  /// Nil if it cannot be opened, or others than root could have put it there: it, and each folder and link on the way to
  /// it, must be root's, and nobody else's to write to.
  package func open(rootFile index: Int) async -> FileDescriptor? {
    await request(["root-file=\(index + 1)"]).file
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
    guard let channel = ask(words), channel.waitForInput(timeout: Self.replyTimeout) else {
      return (false, nil)
    }
    var word = [UInt8](repeating: 0, count: 16)
    var number: Int32 = -1
    let count = clinux_receive(channel.number, &word, word.count, &number)
    let file = FileDescriptor(owning: number)
    let isDone = count > 0 && word.prefix(count).elementsEqual("done".utf8)
    return (isDone, isDone ? file : nil)
  }

  /// Sends a request; the other end of the channel is the launcher's alone then.
  private func ask(_ words: [UInt8]) -> FileDescriptor? {
    guard let channel = ProcessChannel.sockets(SOCK_SEQPACKET), let null = ProcessChannel.input(),
      (try? send(words, [channel.theirs, null, null, null])) != nil
    else { return nil }
    return channel.ours
  }

  private func send(_ words: [UInt8], _ descriptors: [FileDescriptor]) throws(PluginError) {
    let sent = withExtendedLifetime(descriptors) {
      clinux_send(socket.number, words, words.count, descriptors.map(\.number), descriptors.count)
    }
    if sent == words.count { return }
    let hasEnded = [EPIPE, ECONNRESET, ENOTCONN].contains(errno)
    throw .busy(
      "No process can be started for the plugin now.",
      cause: hasEnded ? "both processes of its launcher were killed; restart the server" : nil)
  }

  /// Ends the processes; supervisors then kill the plugins that still run.
  func stop() { shutdown(socket.number, Int32(SHUT_RDWR)) }
}
