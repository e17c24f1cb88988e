import CLinux

/// A connection and its current request; used only by the thread of its event loop.
///
/// A state machine: ``advance()`` is called when the socket or the application may let it continue,
/// and returns as soon as it would block. The extensions parse requests and send responses.
final class Connection {
  let transport: Transport
  let context: EventLoopContext
  let peer: String
  /// Whether it was accepted beyond the limit of connections: its first request gets a 503, unless it
  /// is one that is always answered, and the connection is then closed.
  let isOverflow: Bool

  var phase: Phase
  /// When the phase times out or its transfer is checked, in milliseconds of the context's clock;
  /// 0 is never.
  private var deadline = 0
  /// Measures the phase's transfer; nil if the deadline is a timeout.
  var monitor: TransferMonitor?
  /// The bytes of the body that were received, or of the response that were queued.
  var transferred = 0

  // Receiving.
  /// Whether there may be something to receive: edge-triggered epoll reports it only once.
  var isReadable = false
  /// Whether the peer has closed its side; bytes sent before may still have to be received.
  var hasPeerFinished = false
  /// Bytes that were received but not parsed yet.
  var unparsed: [UInt8] = []
  /// Whether `unparsed` is the beginning of a head, so that more must be received.
  var needsMoreBytes = false

  // The request.
  /// Unique per request; `X-Request-Id` is derived from it.
  var serial: UInt64 = 0
  var request: Request?
  /// Where its response may be cached; nil if the response depends on more than target and credentials.
  var cacheKey: CachedResponses.Key?
  /// The response that is sent again, if it was cached.
  var cached: (any CachedResponse)?
  /// When the turn began in which the head was complete, in nanoseconds.
  var startTime = 0
  /// Whether the response must have no body, but the fields as if it had one.
  var isHeadRequest = false

  // The response.
  /// Its status and body size; nil before it starts and after it was reported.
  var response: (status: Int, bytes: Int)?
  var output = OutputQueue()
  var persistence = ResponseHead.Persistence.keptOpen
  /// Whether unread bytes may arrive: closing must then not reset the connection.
  var leavesBytesUnread = false

  enum Phase {
    case tlsHandshake
    /// Waiting for the head of a request.
    case head
    /// The application is deciding how to respond; the body is not read.
    case planning(Task<Void, Never>)
    /// Receiving the body.
    case body(IncomingBody)
    /// The application is producing the response.
    case responding(Task<Void, Never>)
    /// Another thread is opening the file of the response, or of a cached one.
    case preparing(Content, Response?, cached: (any CachedResponse)? = nil)
    case sending
    case streaming(EventSink)
    /// The response was sent; further input is discarded until the peer closes.
    case lingering
    case closed
  }

  /// What the connection needs before it can continue.
  enum Progress {
    /// An event of epoll, a message or a deadline.
    case waiting
    /// Nothing; it continues after the other ready connections had their turn.
    case yielded
    case closed
  }

  // Timeouts in milliseconds. Those of overflow connections are short: there are few of them, and a
  // slow one delays the 503 of another client.
  private static let overflowHeadTimeout = 2000
  private static let lingerTimeout = 2000
  private static let overflowLingerTimeout = 200
  // A peer usually acknowledges within a round trip.
  private static let firstLingerCheck = 100
  private static let drainTime = 100

  /// Steps per turn, so that one busy connection cannot starve the others of its event loop.
  private static let stepsPerTurn = 32

  init(_ transport: Transport, context: EventLoopContext, peer: String, isOverflow: Bool) {
    (self.transport, self.context) = (transport, context)
    (self.peer, self.isOverflow) = (peer, isOverflow)
    phase = transport.tls == nil ? .head : .tlsHandshake
    setTimeout(headTimeout)
    startTime = context.turnStart
  }

  /// Identifies the current request for other threads.
  var handle: RequestHandle { RequestHandle(descriptor: transport.descriptor, serial: serial) }

  var headTimeout: Int {
    isOverflow ? min(context.timeouts.head, Self.overflowHeadTimeout) : context.timeouts.head
  }

  /// Records the readiness that epoll reported.
  func note(events: UInt32) {
    let ended = EPOLLRDHUP.rawValue | EPOLLHUP.rawValue | EPOLLERR.rawValue
    if events & ended != 0 { hasPeerFinished = true }
    if events & (ended | EPOLLIN.rawValue) != 0 { isReadable = true }
  }

  /// Advances until it would block or has used its steps for this turn.
  func advance() -> Progress {
    for _ in 0..<Self.stepsPerTurn {
      let hasAdvanced =
        switch phase {
        case .tlsHandshake: handshake()
        case .head, .body, .lingering: receive()
        case .planning, .responding, .preparing: false
        case .sending: sendOutput()
        case .streaming(let sink): sendEvents(from: sink)
        case .closed: false
        }
      if case .closed = phase { return .closed }
      guard hasAdvanced else { return .waiting }
    }
    return .yielded
  }

  private func handshake() -> Bool {
    switch transport.tls?.handshake() {
    case .blocked: return false
    case .failed: close()
    case .done, nil: phase = .head
    }
    return true
  }

  // MARK: - Deadlines

  /// Sets the timeout of the current phase, in milliseconds.
  func setTimeout(_ milliseconds: Int) {
    setDeadline(milliseconds)
    monitor = nil
  }

  /// Removes the deadline of the current phase.
  func clearDeadline() { (deadline, monitor) = (0, nil) }

  /// Moves the deadline; the monitor, if any, stays.
  func setDeadline(_ milliseconds: Int) { deadline = context.now + milliseconds }

  /// Checks the deadline; returns whether it has passed, so that the connection must advance.
  func checkDeadline() -> Bool {
    if case .streaming(let sink) = phase { sink.sendHeartbeat(now: context.now) }
    guard deadline != 0, deadline < context.now else { return false }
    let isMonitored = monitor != nil
    if isMonitored, checkTransfer() { return false }
    if isReceivingRequest {
      rejectLateRequest()
    } else {
      // Otherwise the kernel would keep the unread output for minutes.
      if isMonitored { transport.abort() }
      abort()
    }
    return true
  }

  /// Whether a part of a request has arrived, and the rest has not.
  private var isReceivingRequest: Bool {
    switch phase {
    case .head: needsMoreBytes && !unparsed.isEmpty
    case .body: true
    default: false
    }
  }

  /// Closes now; a request that the application is working on gets a 503.
  func abort() {
    switch phase {
    case .planning(let task):
      task.cancel()
      reject(with: Self.timedOut)
    case .responding(let task):
      task.cancel()
      send(Self.timedOut)
    case .preparing: send(Self.timedOut)
    default: close()
    }
  }

  private static let timedOut = Response.problem(
    503, "The request timed out; try again.", fields: ["Retry-After": "1"])

  // MARK: - Closing

  /// Responds to what was received and then closes.
  func drain() {
    if case .streaming(let sink) = phase { sink.closeForShutdown() }
    if case .head = phase {
      // A request may have arrived that epoll has not reported yet.
      isReadable = true
      _ = advance()
    }
    switch phase {
    case .tlsHandshake: close()
    case .head where unparsed.isEmpty:
      // A proxy that has just used it may be sending a request: it could not repeat a POST that is lost.
      if context.turnStart - startTime < Self.drainTime * 1_000_000 {
        setTimeout(Self.drainTime)
      } else {
        close()
      }
    default: break
    }
  }

  /// Ends the connection; its event loop closes the descriptor.
  func close() {
    report(isComplete: false)
    if case .streaming(let sink) = phase { sink.finish() }
    phase = .closed
  }

  /// Waits for the next request, or closes, after the response was passed to the kernel.
  func responseSent() {
    report(isComplete: true)
    request = nil
    if persistence == .closed || context.limiter.isDraining {
      closeGracefully()
    } else {
      phase = .head
      setDeadline(min(context.timeouts.checkInterval, context.timeouts.idle))
    }
  }

  /// Closes once the peer has had time to read the response.
  ///
  /// Closing a socket with unread bytes resets the connection, which discards data in transit to the
  /// peer (RFC 9112, section 9.6).
  private func closeGracefully() {
    let hasUnacknowledged = transport.unacknowledged > 0
    guard leavesBytesUnread || isReadable || !unparsed.isEmpty || hasUnacknowledged else {
      transport.tls?.finish()
      return close()
    }
    // What a peer that has gone did not acknowledge stays in the kernel's queue for ever.
    guard transport.finish() else { return close() }
    (phase, unparsed) = (.lingering, [])
    if hasUnacknowledged {
      setDeadline(min(context.timeouts.checkInterval, Self.firstLingerCheck))
    } else {
      setTimeout(lingerTimeout)
    }
  }

  var lingerTimeout: Int { isOverflow ? Self.overflowLingerTimeout : Self.lingerTimeout }

  /// Handles the end of what the peer sends; it may still be reading a response.
  func peerFinished() {
    isReadable = false
    switch phase {
    case .head where monitor != nil && transport.unacknowledged > 0: closeGracefully()
    case .lingering where transport.unacknowledged > 1: break  // our FIN counts as one byte
    default: close()
    }
  }

  private func report(isComplete: Bool) {
    guard let (status, bytes) = response else { return }
    let nanoseconds = context.time() - startTime
    defer { (response, cached) = (nil, nil) }
    if let cached {
      cached.recordEnd(status: status, bytes: bytes, nanoseconds: nanoseconds)
      guard context.recordsCached else { return }
    }
    context.observer?.record(
      AccessRecord(
        request: request, method: cached == nil ? request?.method ?? "" : "GET", serial: serial,
        route: cached?.route ?? context.responder.route(of: request), peer: peer, status: status,
        bytes: bytes, nanoseconds: nanoseconds, isComplete: isComplete, isCached: cached != nil))
  }
}
