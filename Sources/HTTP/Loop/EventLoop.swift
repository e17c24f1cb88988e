import CLinux
import Foundation
import Glibc

/// One thread that carries connections forward as their sockets allow (epoll(7), edge-triggered).
///
/// Everything but its worker's mailbox belongs to that thread once it runs.
final class EventLoop {
  let worker: Worker
  private let queue: Int32
  private let credentials: SharedCredentials?
  private var listener: Int32
  /// By descriptor.
  private var connections: [Connection?] = []
  /// Those that have more to do and let others go first.
  private var waiting: [Connection] = []
  /// Descriptors to be closed when what epoll has told is done: it may have told of these, too, and a
  /// new connection must not have their numbers before.
  private var left: [Int32] = []
  private var isRunning = true
  private var nextTick = 0
  /// When to accept again after there was no descriptor for one more.
  private var pausedUntil: Int?

  /// How often deadlines are looked at, in milliseconds.
  private static let tick = 100
  private static let batch = 256

  /// A loop that accepts on the socket, which it closes in the end.
  init(listener: Int32, worker: Worker, credentials: SharedCredentials?) throws(ServerError) {
    queue = epoll_create1(Int32(EPOLL_CLOEXEC))
    guard queue >= 0 else { throw .noDescriptor }
    (self.worker, self.credentials, self.listener) = (worker, credentials, listener)
    watch(listener, EPOLLIN.rawValue)
    watch(worker.mailbox.descriptor, EPOLLIN.rawValue)
  }

  deinit {
    close(queue)
    stopAccepting()
  }

  /// Works until it is told to quit.
  func run() {
    withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: Self.batch) { events in
      guard let base = events.baseAddress else { return }
      while isRunning {
        let count = Int(epoll_wait(queue, base, Int32(Self.batch), patience))
        worker.beginTurn()
        for event in events.prefix(max(0, count)) { take(event) }
        let turns = waiting
        waiting = []
        for connection in turns { carry(connection) }
        if worker.now >= nextTick { lookAtDeadlines() }
        closeLeft()
      }
    }
    forAll { $0.close() }
    closeLeft()
  }

  /// How long to wait for something to happen, in milliseconds.
  private var patience: Int32 {
    if !waiting.isEmpty { return 0 }
    return worker.open == 0 && pausedUntil == nil
      ? -1 : Int32(clamping: max(0, nextTick - Ticks.now))
  }

  private func take(_ event: epoll_event) {
    let descriptor = event.data.fd
    switch descriptor {
    case listener: accept()
    case worker.mailbox.descriptor: for letter in worker.mailbox.empty() { open(letter) }
    default:
      guard let connection = connection(descriptor) else { return }
      connection.wake(event.events)
      carry(connection)
    }
  }

  private func carry(_ connection: Connection) {
    switch connection.proceed() {
    case .waits: break
    case .hasMoreToDo: waiting.append(connection)
    case .isOver: remove(connection)
    }
  }

  private func connection(_ descriptor: Int32) -> Connection? {
    connections.indices.contains(Int(descriptor)) ? connections[Int(descriptor)] : nil
  }

  private func watch(_ descriptor: Int32, _ events: UInt32) {
    var event = epoll_event()
    event.events = events
    event.data.fd = descriptor
    epoll_ctl(queue, EPOLL_CTL_ADD, descriptor, &event)
  }

  // MARK: - Coming and going

  private func accept() {
    for _ in 0..<Self.batch {
      var address = sockaddr_storage()
      var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
      let flags = Int32(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
      let descriptor = withUnsafeMutableBytes(of: &address) {
        accept4(listener, $0.assumingMemoryBound(to: sockaddr.self).baseAddress, &size, flags)
      }
      guard descriptor >= 0 else {
        if [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errno) { pause() }
        if errno == ECONNABORTED || errno == EINTR { continue }
        return
      }
      admit(descriptor, from: Address.text(address))
    }
  }

  private func admit(_ descriptor: Int32, from peer: String) {
    let verdict = worker.admission.admit(peer)
    guard verdict != .turnedAway else {
      close(descriptor)
      return
    }
    let connection = Connection(
      Channel(descriptor: descriptor, tls: credentials.map { TLSSession(descriptor, $0.current) }),
      worker: worker, peer: peer, isExcess: verdict == .onlyToBeTold)
    while connections.count <= Int(descriptor) { connections.append(nil) }
    connections[Int(descriptor)] = connection
    worker.open += 1
    watch(
      descriptor,
      EPOLLIN.rawValue | EPOLLOUT.rawValue | EPOLLRDHUP.rawValue | EPOLLET.rawValue)
  }

  private func remove(_ connection: Connection) {
    let descriptor = connection.channel.descriptor
    guard self.connection(descriptor) === connection else { return }
    connections[Int(descriptor)] = nil
    worker.open -= 1
    worker.admission.leave(connection.peer)
    left.append(descriptor)
  }

  private func closeLeft() {
    for descriptor in left { close(descriptor) }
    left.removeAll(keepingCapacity: true)
  }

  /// Leaves new connections where they are for a moment, for there is no descriptor for them.
  private func pause() {
    epoll_ctl(queue, EPOLL_CTL_DEL, listener, nil)
    pausedUntil = worker.now + Self.tick
  }

  private func stopAccepting() {
    guard listener >= 0 else { return }
    close(listener)
    (listener, pausedUntil) = (-1, nil)
  }

  // MARK: - What is told from outside

  private func lookAtDeadlines() {
    nextTick = worker.now + Self.tick
    if let until = pausedUntil, until <= worker.now {
      pausedUntil = nil
      watch(listener, EPOLLIN.rawValue)
    }
    for case let connection? in connections where connection.isDue(worker.now) {
      carry(connection)
    }
  }

  private func open(_ letter: Mailbox.Letter) {
    switch letter {
    case .decision(let ticket, let answer):
      guard let connection = connection(ticket.descriptor) else { return }
      connection.decided(ticket, answer)
      carry(connection)
    case .answer(let ticket, let response):
      guard let connection = connection(ticket.descriptor) else { return }
      connection.settle(ticket, response)
      carry(connection)
    case .events(let ticket): connection(ticket.descriptor).map(carry)
    case .quiesce(let group):
      accept()
      stopAccepting()
      group.leave()
    case .drain: forAll { $0.drain() }
    case .end: forAll { $0.end() }
    case .quit: isRunning = false
    }
  }

  private func forAll(_ act: (Connection) -> Void) {
    for case let connection? in connections {
      act(connection)
      carry(connection)
    }
  }
}
