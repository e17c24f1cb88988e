import CLinux

/// Receives the requests of a connection.
///
/// ``receive(over:into:atMost:)`` provides bytes, of which ``nextHead()`` and ``read(_:)`` take what they parse, until
/// ``keepRest()`` copies what is left.
struct RequestReader {
  /// Whether there may be something to receive: edge-triggered epoll reports it only once.
  var isReadable = false
  /// Whether the peer has closed its side; bytes sent before may still have to be received.
  private(set) var hasPeerFinished = false
  /// Whether a part of a head has arrived, and the rest has not.
  private(set) var isInsideHead = false
  /// What was received and not parsed yet, in the buffer that the connections of the event loop share.
  private var rest = UnsafeRawBufferPointer.empty
  /// A copy of it, while other connections use the buffer.
  private var kept: [UInt8] = []

  /// Whether nothing waits to be parsed.
  var isEmpty: Bool { rest.isEmpty && kept.isEmpty }

  /// Whether what waits begins with a HEAD request.
  var beginsWithHEAD: Bool {
    let name = "HEAD ".utf8
    return rest.isEmpty ? kept.starts(with: name) : rest.starts(with: name)
  }

  /// Records the readiness that epoll reported.
  mutating func note(events: UInt32) {
    let ended = EPOLLRDHUP.rawValue | EPOLLHUP.rawValue | EPOLLERR.rawValue
    if events & ended != 0 { hasPeerFinished = true }
    if events & (ended | EPOLLIN.rawValue) != 0 { isReadable = true }
  }

  /// Provides the bytes to parse next: those that were kept, and if they need more, what has arrived.
  ///
  /// - Parameters:
  ///   - transport: where to receive.
  ///   - buffer: where the bytes are valid until ``keepRest()``.
  ///   - limit: the most bytes to receive.
  /// - Returns: how many there are, 0 if the peer sends no more.
  mutating func receive(
    over transport: Transport, into buffer: UnsafeMutableRawBufferPointer, atMost limit: Int
  ) -> Transport.Progress {
    var count = kept.count
    if kept.isEmpty || isInsideHead {
      guard isReadable else { return .blocked }
      let free = UnsafeMutableRawBufferPointer(rebasing: buffer[count...].prefix(limit))
      switch transport.receive(into: free) {
      case .failed: return .failed
      case .done(0): return .done(0)
      case .blocked:
        isReadable = false
        return .blocked
      case .done(let received):
        // Memory that was not filled means that the socket is empty: this saves a call of recv(2) per request. Not
        // if an end follows.
        let isEmpty = transport.tls?.isEmpty ?? (received < free.count)
        if isEmpty, !hasPeerFinished { isReadable = false }
        count += received
      }
    }
    if !kept.isEmpty {
      buffer.copyBytes(from: kept)
      kept = []
    }
    rest = UnsafeRawBufferPointer(rebasing: buffer[..<count])
    return .done(count)
  }

  /// The next head, which refers to the buffer; nil if more must be received.
  ///
  /// - Throws: why it is rejected; no other can follow.
  mutating func nextHead() throws(HTTPError) -> RequestHead? {
    // An empty line before a request is ignored (RFC 9112, section 2.2).
    while rest.first == UInt8(ascii: "\r"), rest.starts(with: "\r\n".utf8) { drop(2) }
    let head = rest.isEmpty ? nil : try RequestHead.parse(rest)
    isInsideHead = head == nil && !rest.isEmpty
    drop(head?.size ?? 0)
    return head
  }

  /// Has a body consume what belongs to it.
  mutating func read(_ body: IncomingBody) throws(HTTPError) { drop(try body.consume(rest)) }

  /// Has the reader of a WebSocket take everything.
  mutating func read(_ frames: WebSocketReader) -> [WebSocketReader.Event] {
    defer { rest = .empty }
    return frames.read(rest)
  }

  /// Copies what was not parsed; the buffer is then free for other connections.
  mutating func keepRest() {
    guard !rest.isEmpty else { return }
    kept = Array(rest)
    rest = .empty
  }

  /// Discards what was not parsed.
  mutating func discard() { (rest, kept, isInsideHead) = (.empty, [], false) }

  private mutating func drop(_ count: Int) {
    rest = UnsafeRawBufferPointer(rebasing: rest[count...])
  }
}
