import CLinux

/// One connection and the request it is busy with; it belongs to the thread of its event loop.
final class Connection {
  let channel: Channel
  let worker: Worker
  let peer: String
  /// Whether it was opened beyond the limit: its first request is answered with 503.
  let isExcess: Bool

  var phase: Phase
  /// When the phase must be over, or a transfer is looked at, in milliseconds of the worker's clock;
  /// 0 is never.
  private var deadline = 0
  /// Watches the transfer that the phase is about; nil while the deadline is the end of the phase.
  var monitor: TransferMonitor?
  /// Bytes of the body that have come, or of the answer that were handed on to be sent.
  var moved = 0

  // What has been received.
  /// Whether there may be something to receive: epoll says so once, and then not until more has come.
  var mayReceive = false
  /// Whether the other side sends nothing more, after what may be received.
  var hasEnded = false
  /// What has been received beyond what was understood.
  var rest: [UInt8] = []
  /// Whether the rest is the beginning of a head.
  var isStarved = false

  // The request.
  /// What no other request has, for its name.
  var serial: UInt64 = 0
  var request: Request?
  /// What its place is called, when the answer stood already.
  var route: String?
  /// When its head had come, in nanoseconds.
  var begun = 0

  /// Whether its answer must have no body, though it tells how large that would be.
  var wantsHeadOnly = false

  // The answer.
  /// Its status and size.
  var reply: (status: Int, bytes: Int)?
  var output = Output()
  var ending = ResponseHead.Ending.stays
  /// Whether bytes may be on their way that nobody will read: closing must then not reset.
  var leavesBytesUnread = false

  /// What the connection is doing.
  enum Phase {
    /// TLS is being agreed upon.
    case shakingHands
    /// The head of a request is awaited.
    case head
    /// How it is to be answered is being decided; its body is not read.
    case deciding(Task<Void, Never>)
    /// Its body is on its way.
    case body(IncomingBody)
    /// The answer is being worked on.
    case waiting(Task<Void, Never>)
    /// The answer is on its way.
    case answering
    /// The answer is a stream of events.
    case streaming(EventSink)
    /// Nothing more is sent, and what still comes is dropped.
    case lingering
    case over
  }

  /// What is left to do.
  enum Outcome { case waits, hasMoreToDo, isOver }

  init(_ channel: Channel, worker: Worker, peer: String, isExcess: Bool) {
    (self.channel, self.worker) = (channel, worker)
    (self.peer, self.isExcess) = (peer, isExcess)
    phase = channel.tls == nil ? .head : .shakingHands
    hold(worker.times.head)
  }

  /// Takes note of what epoll has seen.
  func wake(_ events: UInt32) {
    let ended = EPOLLRDHUP.rawValue | EPOLLHUP.rawValue | EPOLLERR.rawValue
    if events & ended != 0 { hasEnded = true }
    if events & (ended | EPOLLIN.rawValue) != 0 { mayReceive = true }
  }

  /// Goes on as far as that can be done without waiting, and without keeping others waiting.
  func proceed() -> Outcome {
    for _ in 0..<Self.stepsAtOnce {
      let wentOn =
        switch phase {
        case .shakingHands: shakeHands()
        case .head, .body, .lingering: receive()
        case .deciding, .waiting: false
        case .answering: send()
        case .streaming(let sink): send(from: sink)
        case .over: false
        }
      if case .over = phase { return .isOver }
      guard wentOn else { return .waits }
    }
    return .hasMoreToDo
  }

  private static let stepsAtOnce = 32

  private func shakeHands() -> Bool {
    switch channel.tls?.shakeHands() {
    case .blocked: return false
    case .failed: close()
    case .done, nil: phase = .head
    }
    return true
  }

  // MARK: - Deadlines

  /// The current phase must be over in that time.
  func hold(_ milliseconds: Int) {
    setDeadline(milliseconds)
    monitor = nil
  }

  /// The current phase may last.
  func release() { (deadline, monitor) = (0, nil) }

  /// Changes the deadline, not what it is for.
  func setDeadline(_ milliseconds: Int) { deadline = worker.now + milliseconds }

  /// Acts on what has taken too long; whether there is something to do now.
  func isDue(_ now: Int) -> Bool {
    if case .streaming(let sink) = phase { sink.beat(now) }
    guard deadline != 0, deadline < now else { return false }
    if monitor != nil {
      if passesLook() { return false }
      channel.abort()
    }
    late()
    return true
  }

  private func late() {
    switch phase {
    case .deciding(let task):
      task.cancel()
      refuse(Self.tooLate)
    case .waiting(let task):
      task.cancel()
      send(Self.tooLate)
    default: close()
    }
  }

  private static let tooLate = Response.problem(
    503, "The answer took too long; try again in a moment.", fields: ["Retry-After": "1"])

  // MARK: - The end

  /// Answers what has come and then closes.
  func drain() {
    if case .streaming(let sink) = phase { sink.closeForNow() }
    if case .head = phase {
      mayReceive = true
      _ = proceed()
    }
    switch phase {
    case .shakingHands: close()
    case .head where rest.isEmpty: close()
    default: break
    }
  }

  /// Ends now; what is being worked on is answered with 503.
  func end() { late() }

  /// Ends the connection; its loop closes the descriptor.
  func close() {
    report(isComplete: false)
    if case .streaming(let sink) = phase { sink.end() }
    phase = .over
  }

  /// The answer has left.
  func completed() {
    report(isComplete: true)
    request = nil
    if ending == .closes || worker.admission.isDraining {
      part()
    } else {
      phase = .head
      setDeadline(min(worker.times.look, worker.times.idle))
    }
  }

  /// Closes, after the other side has had time to read what it was sent: closing with unread bytes
  /// resets the connection, and that destroys what is still on its way (RFC 9112, section 9.6).
  private func part() {
    let isOnItsWay = channel.unacknowledged > 0
    guard leavesBytesUnread || mayReceive || !rest.isEmpty || isOnItsWay else {
      channel.tls?.finish()
      return close()
    }
    channel.finish()
    (phase, rest) = (.lingering, [])
    if isOnItsWay { setDeadline(min(worker.times.look, 100)) } else { hold(Self.lingering) }
  }

  static let lingering = 2000

  /// The other side sends nothing more; it may still be reading an answer that has left.
  func ended() {
    mayReceive = false
    switch phase {
    case .head where monitor != nil && channel.unacknowledged > 0: part()
    case .lingering where channel.unacknowledged > 1: break  // one is for the end itself
    default: close()
    }
  }

  private func report(isComplete: Bool) {
    defer { (reply, route) = (nil, nil) }
    guard let observer = worker.observer, let reply else { return }
    observer.note(
      Exchange(
        request: request, method: route == nil ? request?.method ?? "" : "GET", serial: serial,
        route: route ?? worker.responder.route(of: request), peer: peer, status: reply.status,
        bytes: reply.bytes, nanoseconds: Ticks.nanoseconds - begun, isComplete: isComplete))
  }
}
