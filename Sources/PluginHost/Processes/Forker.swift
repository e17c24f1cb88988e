import CLinux
import Dispatch
import Foundation
import Glibc
import Synchronization

/// The one place that spawns: a `richpush-exec serve`, started by `Process`.
///
/// It is started once and asked over a socket for every plugin since. It is small and single-threaded, so a fork of it is cheap, and
/// none of what `Process` costs a spawn (a close action for each open descriptor, a race with
/// descriptors other threads open) is paid again.
final class Forker: Sendable {
  private struct Running {
    let process: Process
    let socket: Descriptor
    let sandbox: String
  }

  /// What came of an order that runs nothing.
  private struct Reply {
    let file: Descriptor?
  }

  private struct State {
    var running: Running?
    var startedAt: ContinuousClock.Instant?
  }

  private let launcher: String
  private let words: [String]
  private let state = Mutex(State())

  /// - Parameter configuration: The path of `richpush-exec`, and what it is told when it starts.
  init(_ configuration: PluginConfiguration) {
    launcher = configuration.launcher
    words =
      (configuration.sandbox == .strict ? ["strict"] : [])
      + ["uids=\(configuration.uids.lowerBound)-\(configuration.uids.upperBound)"]
      + (configuration.user.map { ["user=\($0.id):\($0.group)"] } ?? [])
  }

  /// Sends an order with the status channel and the three standard streams of the plugin.
  ///
  /// - Throws: ``PluginError`` 503 when no process can be had, 413 when the order is too long.
  func send(_ order: Order, _ descriptors: [Descriptor]) throws(PluginError) {
    guard let words = order.encoded else { throw .tooLong }
    try send(words, descriptors)
  }

  /// A regular file in the scratch folder of a plugin's own user, opened by the launcher.
  func open(_ file: String, in folder: String, of user: PluginUser) async -> Descriptor? {
    await ask(["open=\(file)", "write=\(folder)", "uid=\(user.id)"])?.file
  }

  /// Has the launcher remove all that is in the scratch folder of a plugin's own user.
  ///
  /// - Returns: Whether the folder is empty now.
  func empty(_ folder: String, of user: PluginUser) async -> Bool {
    await ask(["empty=1", "write=\(folder)", "uid=\(user.id)"]) != nil
  }

  /// Sends an order that runs nothing, and waits for its reply off the caller's thread; nil when it failed.
  private func ask(_ words: [String]) async -> Reply? {
    await withCheckedContinuation { done in
      DispatchQueue.global(qos: .userInitiated).async { [self] in
        done.resume(returning: reply(to: Order.encoded(words)))
      }
    }
  }

  private func reply(to words: [UInt8]) -> Reply? {
    guard let channel = Channel.packets(), let nothing = Channel.input([]),
      (try? send(words, [channel.theirs, nothing, nothing, nothing])) != nil,
      channel.ours.hasInput(within: .seconds(30), isHurried: false)
    else { return nil }
    var word = [UInt8](repeating: 0, count: 16)
    var file: Int32 = -1
    let count = clinux_receive(channel.ours.number, &word, word.count, &file)
    let descriptor = Descriptor(file)
    return count > 0 && word.prefix(count).elementsEqual("done".utf8)
      ? Reply(file: descriptor) : nil
  }

  private func send(_ words: [UInt8], _ descriptors: [Descriptor]) throws(PluginError) {
    for _ in 0..<2 {
      let socket = try running().socket
      let sent = withExtendedLifetime(descriptors) {
        clinux_send(
          socket.number, words, words.count, descriptors.map(\.number), descriptors.count)
      }
      if sent == words.count { return }
      guard errno == EPIPE || errno == ECONNRESET || errno == ENOTCONN else { break }
      state.withLock { if $0.running?.socket === socket { $0.running = nil } }
    }
    throw .busy("No process can be started for the plugin now.")
  }

  /// Lets the launcher go; the plugins that still run are killed by their supervisors.
  func stop() {
    state.withLock { $0.running = nil }
  }

  /// What the launcher says of this kernel (`sandbox.h`).
  ///
  /// - Throws: ``PluginError`` 503 when there is no launcher.
  func sandbox() throws(PluginError) -> String {
    try running().sandbox
  }

  private func running() throws(PluginError) -> Running {
    let running = state.withLock { state -> Running? in
      if let running = state.running { return running }
      if let last = state.startedAt, .now - last < .milliseconds(200) { return nil }
      state.startedAt = .now
      state.running = start()
      return state.running
    }
    guard let running else {
      throw .busy("The launcher of plugins, \(launcher), cannot be started.")
    }
    return running
  }

  private func start() -> Running? {
    var pair: [Int32] = [-1, -1]
    let kind = Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue)
    guard access(launcher, X_OK) == 0, socketpair(AF_UNIX, kind, 0, &pair) == 0,
      let ours = Descriptor(pair[0]), let theirs = Descriptor(pair[1])
    else { return nil }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: launcher)
    process.arguments = ["serve"] + words
    process.environment = [:]
    process.standardInput = FileHandle(fileDescriptor: theirs.number, closeOnDealloc: false)
    process.standardOutput = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return nil }
    guard let greeting = greeting(from: ours) else { return nil }
    return Running(process: process, socket: ours, sandbox: greeting)
  }

  /// The first packet of a launcher that has come up; nil when it does not within five seconds.
  private func greeting(from socket: Descriptor) -> String? {
    var patience = timeval(tv_sec: 5, tv_usec: 0)
    setsockopt(
      socket.number, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = recv(socket.number, &bytes, bytes.count, 0)
    return count > 0 ? String(decoding: bytes.prefix(count), as: UTF8.self) : nil
  }
}
