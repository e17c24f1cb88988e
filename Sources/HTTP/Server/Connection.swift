/// A connection, used only by the thread of its event loop.
///
/// A state machine: ``advance()`` is called when the socket or the application may let it continue,
/// and returns as soon as it would block. The reader receives requests and the writer sends responses,
/// one exchange after another.
final class Connection {
  let transport: Transport
  let context: EventLoopContext
  /// The address of the other end.
  let peer: String
  /// Whether it was accepted beyond the limit of connections: its first request gets a 503, unless it
  /// is one that is always answered, and the connection is then closed.
  let isOverflow: Bool

  var phase: Phase
  /// Since when it is one of ``WaitingHandshakes``, in milliseconds; nil if it is none of them.
  private var waitingSince: Int?
  private(set) var deadline = Deadline.none
  var reader = RequestReader()
  /// The current request and its response, or the previous ones.
  var exchange: Exchange
  var writer = ResponseWriter()
  /// What reads the client's frames, once it is a WebSocket.
  var frames: WebSocketReader?

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
    /// Another thread is opening the file of the response.
    case preparing(Content, Response)
    /// Another thread is opening the file of a cached response, which is sent again.
    case preparingAgain(any CachedResponse)
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
    exchange = Exchange(serial: 0, startTime: context.turnStart)
    setTimeout(headTimeout)
  }

  /// Identifies the current request for other threads.
  var handle: RequestHandle {
    RequestHandle(descriptor: transport.descriptor, serial: exchange.serial)
  }

  /// Advances until it would block or has used its steps for this turn.
  func advance() -> Progress {
    for _ in 0..<Self.stepsPerTurn {
      let hasAdvanced =
        switch phase {
        case .tlsHandshake: handshake()
        case .head, .body, .lingering: receive()
        case .planning, .responding, .preparing, .preparingAgain: false
        case .sending: sendMore()
        case .streaming(let sink): receiveFrames(for: sink) || sendEvents(from: sink)
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

  var headTimeout: Int {
    isOverflow ? min(context.timeouts.head, Self.overflowHeadTimeout) : context.timeouts.head
  }

  private var lingerTimeout: Int { isOverflow ? Self.overflowLingerTimeout : Self.lingerTimeout }

  /// Limits the time of the current phase, in milliseconds.
  func setTimeout(_ milliseconds: Int) { deadline = .timeout(at: context.now + milliseconds) }

  /// Monitors the transfer that begins now, instead of limiting its total time.
  ///
  /// - Parameter start: the bytes that were transferred before.
  func monitorTransfer(from start: Int) {
    check(TransferMonitor(now: context.now, from: start), within: context.timeouts.checkInterval)
  }

  private func check(_ monitor: TransferMonitor, within milliseconds: Int) {
    deadline = .check(monitor, at: context.now + milliseconds)
  }

  /// Whether it is one of ``WaitingHandshakes``.
  var waitsForHandshake: Bool { waitingSince != nil }

  /// Its handshake waits for others'.
  func beginWaiting() { waitingSince = context.now }

  /// Its handshake goes on; the client has not had the time in which it waited.
  func endWaiting() {
    guard let since = waitingSince else { return }
    deadline = deadline.postponed(by: context.now - since)
    waitingSince = nil
  }

  /// Has the transfer checked soon, if it is monitored.
  private func checkTransfer(within milliseconds: Int) {
    guard case .check(let monitor, _) = deadline else { return }
    check(monitor, within: min(context.timeouts.checkInterval, milliseconds))
  }

  /// Checks the deadline; returns whether it has passed, so that the connection must advance.
  func checkDeadline() -> Bool {
    if case .streaming(let sink) = phase { sink.sendHeartbeat(now: context.now) }
    guard deadline.hasPassed(at: context.now) else { return false }
    var isTooSlow = false
    if case .check(let monitor, _) = deadline {
      if isFastEnough(monitor) { return false }
      isTooSlow = true
    }
    if isReceivingRequest {
      rejectLateRequest()
    } else {
      // Otherwise the kernel would keep the unread output for minutes.
      if isTooSlow { transport.abort() }
      abort()
    }
    return true
  }

  /// Whether a part of a request has arrived, and the rest has not.
  private var isReceivingRequest: Bool {
    switch phase {
    case .head: reader.isInsideHead
    case .body: true
    default: false
    }
  }

  /// Whether the monitored transfer may go on; sets the next deadline.
  private func isFastEnough(_ monitor: TransferMonitor) -> Bool {
    var minimum = context.limits.transferBytes
    let transferred: Int
    switch phase {
    case .body(let body):
      transferred = body.received
      if !body.wantsBytes {  // the client waits for the disk
        monitorTransfer(from: transferred)
        return true
      }
    case .streaming(let sink):
      guard !writer.isEmpty || sink.unsentBytes > 0 || transport.unsent > 0 else {
        deadline = .none
        return true
      }
      // A closed stream is a response like any other; an open one may be read slowly.
      if !sink.isClosed { minimum = 1 }
      transferred = writer.acknowledged(over: transport)
    case .head where transport.unacknowledged == 0:
      setTimeout(max(0, context.timeouts.idle - context.timeouts.checkInterval))
      return true
    case .lingering where transport.unacknowledged == 0:
      setTimeout(exchange.leavesBytesUnread ? lingerTimeout : 0)
      return true
    // The kernel buffers the end of a response until the peer has received it.
    default: transferred = writer.acknowledged(over: transport)
    }
    var monitor = monitor
    let isFastEnough = monitor.isFastEnough(
      transferred, minimum: minimum, now: context.now, timeouts: context.timeouts)
    check(monitor, within: context.timeouts.checkInterval)
    return isFastEnough
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
    case .preparing, .preparingAgain: send(Self.timedOut)
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
      reader.isReadable = true
      _ = advance()
    }
    switch phase {
    case .tlsHandshake: close()
    case .head where reader.isEmpty:
      // A proxy that has just used it may be sending a request: it could not repeat a POST that is lost.
      if context.turnStart - exchange.startTime < Self.drainTime * 1_000_000 {
        setTimeout(Self.drainTime)
      } else {
        close()
      }
    default: break
    }
  }

  /// Ends the connection; its event loop closes the descriptor.
  func close() {
    exchange.end(isComplete: false, peer: peer, in: context)
    if case .streaming(let sink) = phase { sink.finish() }
    phase = .closed
  }

  /// Waits for the next request, or closes, after the response was passed to the kernel.
  func responseSent() {
    exchange.end(isComplete: true, peer: peer, in: context)
    if exchange.persistence == .closed || context.limiter.isDraining {
      closeGracefully()
    } else {
      phase = .head
      checkTransfer(within: context.timeouts.idle)
    }
  }

  /// Closes once the peer has had time to read the response.
  ///
  /// Closing a socket with unread bytes resets the connection, which discards data in transit to the
  /// peer (RFC 9112, section 9.6).
  private func closeGracefully() {
    let hasUnacknowledged = transport.unacknowledged > 0
    guard
      exchange.leavesBytesUnread || reader.isReadable || !reader.isEmpty || hasUnacknowledged
    else {
      transport.tls?.finish()
      return close()
    }
    // What a peer that has gone did not acknowledge stays in the kernel's queue for ever.
    guard transport.finish() else { return close() }
    phase = .lingering
    reader.discard()
    if hasUnacknowledged {
      checkTransfer(within: Self.firstLingerCheck)
    } else {
      setTimeout(lingerTimeout)
    }
  }

  /// Handles the end of what the peer sends; it may still be reading a response.
  func peerFinished() {
    reader.isReadable = false
    switch (phase, deadline) {
    case (.head, .check) where transport.unacknowledged > 0: closeGracefully()
    case (.lingering, _) where transport.unacknowledged > 1: break  // our FIN counts as one byte
    default: close()
    }
  }
}
