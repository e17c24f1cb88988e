import Synchronization

/// The sending end of one stream of server-sent events; any thread may use it.
package final class EventSink: Sendable {
  private struct State {
    var waiting: [UInt8] = []
    var position = 0
    /// Whether the loop has been told that there is something to send, and has not looked yet.
    var isAnnounced = false
    var isClosed = false
    var isGone = false
    var lastSent = Ticks.now
    var onClose: (@Sendable () -> Void)?
    var onDrain: (@Sendable () -> Void)?
  }

  /// Whether its pieces are sent as chunks; if not, the stream ends with its connection.
  let isChunked: Bool
  private let ticket: Ticket
  private let mailbox: Mailbox
  private let limits: ServerConfiguration.Limits
  private let state = Mutex(State())

  init(
    _ ticket: Ticket, _ mailbox: Mailbox, limits: ServerConfiguration.Limits, isChunked: Bool
  ) {
    (self.ticket, self.mailbox, self.limits) = (ticket, mailbox, limits)
    self.isChunked = isChunked
  }

  /// Sends an event; false when the stream is closed.
  @discardableResult package func send(_ event: ServerSentEvent) -> Bool { send(event.bytes) }

  /// Sends bytes, which must be whole events.
  ///
  /// - Parameter bytes: what is to be sent.
  /// - Returns: false when the stream is closed, or now is because its reader is too slow.
  @discardableResult package func send(_ bytes: [UInt8]) -> Bool {
    state.withLock { state in
      guard !state.isClosed else { return false }
      state.isClosed = state.waiting.count - state.position + bytes.count > limits.waitingEvents
      if !state.isClosed { state.waiting += bytes }
      state.lastSent = Ticks.now
      announce(&state)
      return !state.isClosed
    }
  }

  /// Ends the stream after what was sent so far.
  package func close() {
    state.withLock { state in
      state.isClosed = true
      announce(&state)
    }
  }

  /// Ends the stream and asks its client to come back soon, for the server is about to stop.
  func closeForNow() {
    send(Array("retry: 1000\n\n".utf8))
    close()
  }

  /// Whether nothing more can be sent; what was sent before may still have to leave.
  var isClosed: Bool { state.withLock { $0.isClosed } }

  /// Bytes that the other side has not taken yet.
  package var backlog: Int { state.withLock { $0.waiting.count - $0.position } }

  /// Sets what is called once when the stream is over, at once when it already is.
  package func onClose(_ action: @escaping @Sendable () -> Void) {
    let isOver = state.withLock { state in
      if !state.isGone { state.onClose = action }
      return state.isGone
    }
    if isOver { action() }
  }

  /// Sets what is called, on the thread of an event loop, whenever all that was sent has been handed on.
  package func onDrain(_ action: @escaping @Sendable () -> Void) {
    state.withLock { $0.onDrain = action }
  }

  /// Says that the stream is alive when it has been quiet for too long.
  func beat(_ now: Int) {
    let isQuiet = state.withLock { $0.lastSent + limits.heartbeat.milliseconds <= now }
    if isQuiet { send(Array(":\n\n".utf8)) }
  }

  /// What is to be sent next; nothing for the moment, or nil when the stream has come to its end.
  func next() -> [UInt8]? {
    let (piece, drained) = state.withLock { state -> ([UInt8]?, (@Sendable () -> Void)?) in
      state.isAnnounced = false
      guard state.position < state.waiting.count else { return (state.isClosed ? nil : [], nil) }
      let piece = Array(state.waiting[state.position...].prefix(Self.piece))
      state.position += piece.count
      guard state.position == state.waiting.count else { return (piece, nil) }
      state.waiting.removeAll(keepingCapacity: state.position <= 4096)
      state.position = 0
      return (piece, state.onDrain)
    }
    drained?()
    return piece
  }

  /// The most bytes that are handed on at once.
  private static let piece = 16 * 1024

  /// Called when the connection is through with the stream, for whatever reason.
  func end() {
    let action = state.withLock { state in
      state.isClosed = true
      state.isGone = true
      state.onDrain = nil
      defer { state.onClose = nil }
      return state.onClose
    }
    action?()
  }

  private func announce(_ state: inout State) {
    guard !state.isAnnounced, !state.isGone else { return }
    state.isAnnounced = true
    mailbox.post(.events(ticket))
  }
}
