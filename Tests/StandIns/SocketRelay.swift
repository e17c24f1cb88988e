import Foundation
import Glibc
import Synchronization

/// Passes bytes between clients of its own Unix socket and those of a server, until it is cut: then all connections stay
/// open and nothing passes, as in a network that drops every packet.
///
/// An answer of the server can be lost with its connection.
package final class SocketRelay: Sendable {
  private struct Pair {
    let client: Int32
    let server: Int32
    /// The end of what the server has sent, in which the answer that is to be lost may begin.
    var tail: [UInt8] = []
  }

  /// What becomes of an answer.
  private enum Loss {
    case none
    case next([UInt8])
    case happened
  }

  /// The folder of its socket.
  package let folder: String
  private let target: String
  private let listener: Int32
  private let isCut = Atomic(false)
  private let isEnding = Atomic(false)
  private let mustDrop = Atomic(false)
  private let loss = Mutex(Loss.none)

  /// Relays a socket with this name from a folder of its own to another folder.
  package init(_ name: String, to target: String) throws {
    // Short, because the path of a socket is.
    folder =
      FileManager.default.temporaryDirectory
      .appending(path: "relay-\(UInt32.random(in: .min ... .max))").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    self.target = target + "/" + name
    listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard Self.withAddress(of: folder + "/" + name, { bind(listener, $0, $1) }) == 0,
      listen(listener, 64) == 0
    else { throw StandInError.hasEnded }
    Thread.detachNewThread { [self] in run() }
  }

  deinit {
    try? FileManager.default.removeItem(atPath: folder)
  }

  /// Whether nothing passes.
  package func cut(_ isCut: Bool) { self.isCut.store(isCut, ordering: .relaxed) }

  /// Ends the connection on which the server sends these bytes next, and passes neither them nor what comes with them.
  package func lose(_ answer: [UInt8]) { loss.withLock { $0 = .next(answer) } }

  /// Whether that has happened.
  package var hasLost: Bool { loss.withLock { if case .happened = $0 { true } else { false } } }

  /// Ends the connections that there are; new ones are accepted.
  package func drop() { mustDrop.store(true, ordering: .relaxed) }

  /// Ends all connections, and accepts no more.
  package func stop() { isEnding.store(true, ordering: .relaxed) }

  private func run() {
    var pairs: [Pair] = []
    while !isEnding.load(ordering: .relaxed) {
      if isCut.load(ordering: .relaxed) {
        usleep(10_000)
        continue
      }
      if mustDrop.exchange(false, ordering: .relaxed) {
        for socket in pairs.flatMap({ [$0.client, $0.server] }) { close(socket) }
        pairs = []
      }
      let sockets = [listener] + pairs.flatMap { [$0.client, $0.server] }
      var events = sockets.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
      guard poll(&events, UInt(events.count), 20) > 0, !isCut.load(ordering: .relaxed) else {
        continue
      }
      if events[0].revents != 0, let pair = accept() { pairs.append(pair) }
      let readable = Set(events.filter { $0.revents != 0 }.map(\.fd))
      for index in pairs.indices.reversed() {
        let pair = pairs[index]
        let hasRequest = readable.contains(pair.client)
        let hasAnswer = readable.contains(pair.server)
        let isOpen =
          (!hasRequest || pass(from: pair.client, to: pair.server) { _ in true })
          && (!hasAnswer
            || pass(from: pair.server, to: pair.client) { passes($0, &pairs[index]) })
        if isOpen { continue }
        for socket in [pair.client, pair.server] { close(socket) }
        pairs.remove(at: index)
      }
    }
    for socket in [listener] + pairs.flatMap({ [$0.client, $0.server] }) { close(socket) }
  }

  private func accept() -> Pair? {
    let client = Glibc.accept(listener, nil, nil)
    let server = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard client >= 0, Self.withAddress(of: target, { connect(server, $0, $1) }) == 0 else {
      for socket in [client, server] { close(socket) }
      return nil
    }
    return Pair(client: client, server: server)
  }

  /// False if these bytes of the server complete the answer that is to be lost.
  private func passes(_ bytes: ArraySlice<UInt8>, _ pair: inout Pair) -> Bool {
    loss.withLock { loss in
      guard case .next(let answer) = loss else {
        pair.tail = []
        return true
      }
      let sent = pair.tail + bytes
      if sent.firstRange(of: answer) != nil {
        loss = .happened
        return false
      }
      pair.tail = sent.suffix(answer.count - 1)
      return true
    }
  }

  /// False if a side has ended, or `mayPass` refuses the bytes.
  private func pass(
    from source: Int32, to target: Int32, _ mayPass: (ArraySlice<UInt8>) -> Bool
  ) -> Bool {
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    let count = read(source, &buffer, buffer.count)
    if count > 0, !mayPass(buffer[..<count]) { return false }
    var sent = 0
    while sent < count {
      let more = buffer.withUnsafeBytes {
        send(target, $0.baseAddress?.advanced(by: sent), count - sent, Int32(MSG_NOSIGNAL))
      }
      guard more > 0 else { return false }
      sent += more
    }
    return count > 0
  }

  private static func withAddress(
    of path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) {
      $0.copyBytes(from: path.utf8.prefix($0.count - 1))
    }
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }
}
