import CMicroHTTPD
import Glibc
import Synchronization

/// One connection and the request it is busy with.
///
/// `step`, `target` and `request` belong to the connection's HTTP thread; the rest may be used by any.
final class Connection: @unchecked Sendable {  // the reason is the sentence above
  let handle: OpaquePointer
  let worker: Worker
  let peer: String
  private let descriptor: Int32

  /// The request target, as the request line has it.
  var target = ""
  var step = Step.head
  var request: Request?
  /// What its place is called, when the answer stood already.
  var route: String?
  /// The status and size of the answer, and when its request had come.
  var reply: (status: Int, bytes: Int)?
  var begun = 0
  /// What no other request has, for its name.
  var serial: UInt64 = 0
  /// Whether no request line has been read on it yet.
  var isFresh = true
  /// Whether it was opened beyond the limit: its first request is answered with 503.
  var isExcess = false
  /// Whether bytes may be on their way that nobody will read: closing must then not reset.
  var leavesBytesUnread = false

  private let deadline = Atomic(0)
  private let idle = Atomic(true)
  private struct Shared {
    var suspended: Suspended?
    var stream: EventSink?
  }
  private let shared = Mutex(Shared())

  /// What a request's next call is for.
  enum Step {
    /// The head has come.
    case head
    /// The head was plain and its answer stands: the file, whole or as 304.
    case standing(Prepared, Int)
    /// The body, if any, is dropped; then the response is sent.
    case dropping(left: Int, Next)
    /// The body is collected.
    case reading(BodyBuffer)
    case saving(BodyFile)
    /// The connection is suspended until the answer is there.
    case waiting(Suspended)
    case answered
    /// The answer is a stream of events.
    case streaming
  }

  /// What follows a body that nobody wants.
  enum Next {
    case reply(Response)
    case work(Duration, @Sendable () async -> Response)
  }

  init(_ handle: OpaquePointer, worker: Worker) {
    self.handle = handle
    self.worker = worker
    descriptor = cmicrohttpd_descriptor(handle)
    peer = Address.text(cmicrohttpd_address(handle))
    hold(worker.times.head)
  }

  // MARK: - Deadlines

  /// The current phase must be over in that time.
  func hold(_ milliseconds: Int) {
    deadline.store(Ticks.now + milliseconds, ordering: .relaxed)
  }

  /// The current phase may last.
  func release() { deadline.store(0, ordering: .relaxed) }

  /// Whether the deadline has passed; says so only once.
  func passedDeadline(_ now: Int) -> Bool {
    let due = deadline.load(ordering: .relaxed)
    return due != 0 && due < now
      && deadline.compareExchange(expected: due, desired: 0, ordering: .relaxed).exchanged
  }

  // MARK: - Seen from other threads

  var isIdle: Bool { idle.load(ordering: .sequentiallyConsistent) }
  var isSuspended: Bool { shared.withLock { $0.suspended != nil } }
  var stream: EventSink? { shared.withLock { $0.stream } }

  func become(idle isIdle: Bool) { idle.store(isIdle, ordering: .sequentiallyConsistent) }

  func setSuspended(_ suspended: Suspended?) { shared.withLock { $0.suspended = suspended } }

  func setStream(_ stream: EventSink?) { shared.withLock { $0.stream = stream } }

  /// Answers 503 in place of work that has not come to an end.
  func settleLate() {
    shared.withLock { $0.suspended }?.settle(
      .problem(
        503, "The answer took too long; try again in a moment.", fields: ["Retry-After": "1"]))
  }

  /// Lets what has come be answered and then closes.
  func stopReading() { shutdown(descriptor, Int32(SHUT_RD)) }

  /// Ends the connection whatever it does: libmicrohttpd notices and closes.
  func cut() { shutdown(descriptor, Int32(SHUT_RDWR)) }

  /// Writes past libmicrohttpd, for what it would not say.
  func write(_ bytes: [UInt8]) {
    bytes.withUnsafeBytes { cmicrohttpd_write(handle, $0.baseAddress, $0.count) }
  }

  /// The answer has left, or its connection has failed.
  func completed(isComplete: Bool) {
    report(isComplete: isComplete)
    if case .streaming = step {
      stream?.end()
      setStream(nil)
    }
    request = nil
    step = .head
    hold(worker.times.idle)
    become(idle: true)
    if worker.connections.isDraining { stopReading() }
  }

  private func report(isComplete: Bool) {
    defer { (reply, route) = (nil, nil) }
    guard let observer = worker.observer, let reply, begun != 0 else { return }
    if route != nil, observer.readsRequest { request = standingRequest }
    observer.note(
      Exchange(
        request: request, method: route == nil ? request?.method ?? "" : "GET", serial: serial,
        route: route ?? worker.responder.route(of: request), peer: peer, status: reply.status,
        bytes: reply.bytes, nanoseconds: Ticks.nanoseconds - begun, isComplete: isComplete))
  }

  /// Called just before the descriptor is closed.
  func willClose() {
    // What is no request line at all is closed without a word.
    if isFresh, reply == nil, !worker.isSecure, cmicrohttpd_is_open(descriptor) != 0 {
      refuse(unreadable: 400)
    }
    worker.connections.remove(self)
    report(isComplete: leavesBytesUnread)  // what libmicrohttpd has not called complete
    // A request without a reply of ours was refused by libmicrohttpd itself, which reads no further.
    if leavesBytesUnread || !isIdle && reply == nil { Linger.close(after: descriptor) }
  }
}
