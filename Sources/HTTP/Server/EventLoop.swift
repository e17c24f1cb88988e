import CLinux
import Dispatch
import Glibc
import Primitives

/// A thread that advances its connections when their sockets are ready (epoll, edge-triggered).
///
/// Once it runs, only that thread may use it, except for its queue. It blocks only in epoll_wait: other threads
/// open and write files for it.
final class EventLoop {
  let context: EventLoopContext
  private let epoll: FileDescriptor
  private let identity: CurrentTLSIdentity?
  /// Nil once the loop no longer accepts.
  private var listener: FileDescriptor?
  /// By descriptor.
  private var connections: [Connection?] = []
  /// Connections that have used their steps of this turn but could continue.
  private var yielded: [Connection] = []
  private var handshakes = WaitingHandshakes()
  /// Closed after the current batch: a later event in it may still name them, and the number must not
  /// be reused before then.
  private var closing: [Int32] = []
  private var isRunning = true
  private var nextTick = 0
  /// When to look next for files that were removed.
  private var nextLook = 0
  /// When to accept again, after a connection could not be accepted for lack of resources.
  private var pausedUntil: Int?
  private var spares = SpareDescriptors()

  /// How often deadlines are checked, in milliseconds.
  private var tick: Int { min(Self.longestTick, context.timeouts.checkInterval) }
  private static let longestTick = 100
  /// How often open files are looked at, in milliseconds.
  private static let lookInterval = 60_000
  /// The most events handled per turn.
  private static let batchSize = 256
  /// The most connections accepted per turn: open ones wait for them.
  private static let acceptedPerTurn = 64
  /// How long handshakes may go on in a turn, in nanoseconds: other connections wait for them.
  private static let handshakeTime = 2_000_000

  /// A loop that accepts connections from the socket, which it owns.
  init(
    listener: FileDescriptor, context: EventLoopContext, identity: CurrentTLSIdentity?
  ) throws(ServerError) {
    guard let epoll = FileDescriptor(owning: epoll_create1(Int32(EPOLL_CLOEXEC))) else {
      throw .noDescriptor
    }
    (self.epoll, self.listener) = (epoll, listener)
    (self.context, self.identity) = (context, identity)
    register(listener.number, EPOLLIN.rawValue)
    register(context.queue.descriptor.number, EPOLLIN.rawValue)
  }

  /// Runs until the message to quit.
  func run() {
    withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: Self.batchSize) { events in
      guard let base = events.baseAddress else { return }
      while isRunning {
        let count = Int(epoll_wait(epoll.number, base, Int32(Self.batchSize), timeout))
        context.beginTurn()
        for event in events.prefix(max(0, count)) { handle(event) }
        let ready = yielded
        yielded = []
        for connection in ready { advance(connection) }
        advanceHandshakes()
        if context.now >= nextTick { checkDeadlines() }
        closeDescriptors()
      }
    }
    forEachConnection { $0.close() }
    closeDescriptors()
  }

  /// How long to wait for events, in milliseconds; -1 is for ever.
  private var timeout: Int32 {
    if !yielded.isEmpty || !handshakes.isEmpty { return 0 }
    if context.openConnections == 0, pausedUntil == nil {
      return context.files.hasOpenFiles ? Int32(Self.lookInterval) : -1
    }
    return Int32(clamping: max(0, nextTick - context.time() / 1_000_000))
  }

  private func handle(_ event: epoll_event) {
    switch event.data.fd {
    case listener?.number: accept()
    case context.queue.descriptor.number:
      for message in context.queue.takeAll() { handle(message) }
    case let descriptor:
      guard let connection = connection(descriptor) else { return }
      connection.reader.note(events: event.events)
      if case .tlsHandshake = connection.phase {
        handshakes.add(connection)
      } else {
        advance(connection)
      }
    }
  }

  /// Advances handshakes, each of which takes a hundred times as long as a request, for a part of this turn.
  private func advanceHandshakes() {
    guard !handshakes.isEmpty else { return }
    let end = context.time() + Self.handshakeTime
    repeat {
      guard let connection = handshakes.removeFirst() else { return }
      advance(connection)
    } while context.time() < end
  }

  private func advance(_ connection: Connection) {
    switch connection.advance() {
    case .waiting: break
    case .yielded: yielded.append(connection)
    case .closed: remove(connection)
    }
  }

  private func connection(_ descriptor: Int32) -> Connection? {
    connections.indices.contains(Int(descriptor)) ? connections[Int(descriptor)] : nil
  }

  private func register(_ descriptor: Int32, _ events: UInt32) {
    var event = epoll_event()
    event.events = events
    event.data.fd = descriptor
    epoll_ctl(epoll.number, EPOLL_CTL_ADD, descriptor, &event)
  }

  // MARK: - Accepting and removing

  private func accept(atMost limit: Int = EventLoop.acceptedPerTurn) {
    guard let listener = listener?.number else { return }
    for _ in 0..<limit {
      var (descriptor, address) = acceptOne(listener)
      var error = errno
      var isSpare = false
      if descriptor < 0, [EMFILE, ENFILE].contains(error) {
        ConnectionLimiter.warnOfDescriptorShortage(error, context.log)
        isSpare = spares.releaseOne()
        if isSpare {
          (descriptor, address) = acceptOne(listener)
          error = errno
        }
      }
      guard descriptor >= 0 else {
        if [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(error) { pauseAccepting() }
        if error == ECONNABORTED || error == EINTR { continue }
        return
      }
      add(descriptor, from: IPAddress.text(address), isSpare: isSpare)
    }
  }

  private func acceptOne(_ listener: Int32) -> (descriptor: Int32, address: sockaddr_storage) {
    var address = sockaddr_storage()
    var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let flags = Int32(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    let descriptor = withUnsafeMutableBytes(of: &address) {
      accept4(listener, $0.assumingMemoryBound(to: sockaddr.self).baseAddress, &size, flags)
    }
    return (descriptor, address)
  }

  private func add(_ descriptor: Int32, from peer: String, isSpare: Bool) {
    let decision = context.limiter.admit(peer)
    guard decision != .rejected else {
      close(descriptor)
      return
    }
    let tls = identity.map { TLSSession(descriptor, $0.value) }
    let connection = Connection(
      Transport(descriptor: descriptor, tls: tls), context: context, peer: peer,
      isOverflow: isSpare || decision == .overflow)
    while connections.count <= Int(descriptor) { connections.append(nil) }
    connections[Int(descriptor)] = connection
    context.openConnections += 1
    register(
      descriptor,
      EPOLLIN.rawValue | EPOLLOUT.rawValue | EPOLLRDHUP.rawValue | EPOLLET.rawValue)
  }

  private func remove(_ connection: Connection) {
    let descriptor = connection.transport.descriptor
    // A connection can be both in a batch of events and in `yielded`, so it may be removed already.
    guard self.connection(descriptor) === connection else { return }
    connections[Int(descriptor)] = nil
    context.openConnections -= 1
    context.limiter.release(connection.peer)
    closing.append(descriptor)
  }

  private func closeDescriptors() {
    for descriptor in closing { close(descriptor) }
    closing.removeAll(keepingCapacity: true)
  }

  /// Leaves new connections in the backlog until the next tick; epoll would report them at once.
  private func pauseAccepting() {
    if let listener { epoll_ctl(epoll.number, EPOLL_CTL_DEL, listener.number, nil) }
    pausedUntil = context.now + tick
  }

  // MARK: - Deadlines and messages

  private func checkDeadlines() {
    nextTick = context.now + tick
    if let until = pausedUntil, until <= context.now {
      pausedUntil = nil
      if let listener { register(listener.number, EPOLLIN.rawValue) }
    }
    spares.refill()
    if context.now >= nextLook {
      context.files.closeRemoved()
      nextLook = context.now + Self.lookInterval
    }
    // A client whose handshake waits for others' is not what is slow.
    for case let connection? in connections
    where !connection.waitsForHandshake && connection.checkDeadline() {
      advance(connection)
    }
  }

  private func handle(_ message: LoopMessage) {
    switch message {
    case .plan(let handle, let plan): resume(handle) { $0.resume(with: plan) }
    case .response(let handle, let response): resume(handle) { $0.resume(with: response) }
    case .interruption(let handle, let response):
      resume(handle) { $0.interruptBody(with: response) }
    case .saved(let handle, let error): resume(handle) { $0.resume(afterSaving: error) }
    case .prepared(let content, let file):
      if let file { context.files.insert(file) }
      for handle in context.opening.removeValue(forKey: content) ?? [] {
        resume(handle) { $0.resume(with: file) }
      }
    case .events(let handle): resume(handle) { _ in }
    case .stopAccepting(let group):
      // The backlog's connections would be reset: accept them now, and answer while draining. If the
      // service manager keeps the socket, the next process accepts them.
      if !context.isListenerKept { accept(atMost: .max) }
      (listener, pausedUntil) = (nil, nil)
      group.leave()
    case .drain: forEachConnection { $0.drain() }
    case .closeAll: forEachConnection { $0.abort() }
    case .turn(let group): group.leave()
    case .quit: isRunning = false
    }
  }

  private func resume(_ handle: RequestHandle, _ body: (Connection) -> Void) {
    guard let connection = connection(handle.descriptor), connection.handle == handle else {
      return
    }
    body(connection)
    advance(connection)
  }

  private func forEachConnection(_ body: (Connection) -> Void) {
    for case let connection? in connections {
      body(connection)
      advance(connection)
    }
  }
}
