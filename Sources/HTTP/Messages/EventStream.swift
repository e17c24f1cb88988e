import Synchronization

/// Where the events of a stream come from.
package protocol EventSource: Sendable {
  /// How the stream is sent.
  var form: StreamForm { get }
  /// Called once when the stream begins, on an event loop's thread: keep the sink, do not block.
  func open(_ sink: EventSink)
}

extension EventSource {
  /// Server-sent events.
  package var form: StreamForm { .serverSentEvents }
}

/// A server-sent event (WHATWG HTML, section 9.2).
package struct ServerSentEvent: Sendable {
  package var id: String?
  package var name: String?
  package var data: String

  package init(id: String? = nil, name: String? = nil, data: String) {
    (self.id, self.name, self.data) = (id, name, data)
  }

  /// The event in the stream's format.
  package var bytes: [UInt8] {
    var text = ""
    if let id { text += "id: \(Self.oneLine(id))\n" }
    if let name { text += "event: \(Self.oneLine(name))\n" }
    // Only what ends a line there: JSON may have other line ends, such as U+2028, within its texts.
    for line in data.split(omittingEmptySubsequences: false, whereSeparator: Self.endsLine) {
      text += "data: \(line)\n"
    }
    return Array("\(text)\n".utf8)
  }

  private static func endsLine(_ character: Character) -> Bool {
    ["\n", "\r", "\r\n"].contains(character)
  }

  /// A line end would begin another field, and a client ignores an ID that has a NUL.
  private static func oneLine(_ text: String) -> String {
    String(text.map { $0.isNewline || $0 == "\0" ? " " : $0 })
  }
}

/// The sending end of a stream of events; any thread may use it.
package final class EventSink: Sendable {
  private struct State {
    var unsent: [UInt8] = []
    var position = 0
    /// Whether the event loop was woken and has not called ``next()`` since.
    var isWakePending = false
    var isClosed = false
    /// Whether something is missing at its end.
    var hasFailed = false
    var isFinished = false
    /// When it was first noticed that nothing was sent any more; nil if something was since.
    var quietSince: Int?
    var onClose: (@Sendable () -> Void)?
    var onDrain: (@Sendable () -> Void)?
  }

  /// The most bytes that ``next()`` returns, so that a stream does not delay the others of its event
  /// loop: the size of a TLS record.
  private static let pieceSize = 16 << 10
  /// A larger buffer is freed when it is empty: there may be thousands of quiet streams.
  private static let keptCapacity = 4096

  /// Whether the stream is sent in chunks; otherwise closing the connection ends it.
  let isChunked: Bool
  private let form: StreamForm
  private let limit: Int
  private let heartbeat: Int
  private let wake: @Sendable () -> Void
  private let state = Mutex(State())

  /// An open sink.
  ///
  /// - Parameters:
  ///   - limit: the bytes that may wait together before the stream is closed.
  ///   - heartbeat: the milliseconds after which a quiet stream sends its heartbeat.
  ///   - isChunked: whether the stream is sent in chunks.
  ///   - form: how it is sent.
  ///   - wake: makes the event loop call ``next()``.
  package init(
    limit: Int, heartbeat: Int, isChunked: Bool, form: StreamForm = .serverSentEvents,
    wake: @escaping @Sendable () -> Void
  ) {
    (self.limit, self.heartbeat, self.form) = (limit, heartbeat, form)
    (self.isChunked, self.wake) = (isChunked, wake)
  }

  /// Sends bytes, which must be whole events.
  ///
  /// While nothing waits they may be any number.
  ///
  /// - Parameter bytes: the events in the stream's form.
  /// - Returns: false if the stream is closed, which it also is if the client reads too slowly.
  @discardableResult package func send(_ bytes: [UInt8]) -> Bool {
    state.withLock { state in
      guard !state.isClosed else { return false }
      let waiting = state.unsent.count - state.position
      // What a client missed may be more than the limit: refused, it would be as much after each reconnection.
      state.isClosed = waiting > 0 && waiting + bytes.count > limit
      if !state.isClosed { state.unsent += bytes }
      state.quietSince = nil
      wakeOnce(&state)
      return !state.isClosed
    }
  }

  /// Ends the stream after what was sent so far.
  package func close() { close(with: form.end) }

  /// Ends the stream by these bytes after what was sent so far.
  func close(with end: [UInt8]) {
    state.withLock { state in
      if !state.isClosed { state.unsent += end }
      state.isClosed = true
      wakeOnce(&state)
    }
  }

  /// Ends the stream, after what was sent so far, so that its client knows that something is missing.
  package func fail() {
    state.withLock { $0.hasFailed = true }
    close(with: [])
  }

  /// Whether the connection has to be closed at the end of the stream.
  var hasFailed: Bool { state.withLock { $0.hasFailed } }

  /// Ends the stream and asks its client to reconnect soon, because the server shuts down.
  func closeForShutdown() {
    guard form.isEndless else { return }
    send(form.farewell)
    close()
  }

  /// Whether nothing more can be sent; earlier events may still be queued.
  var isClosed: Bool { state.withLock { $0.isClosed } }

  /// The bytes that have not been passed to the kernel yet.
  package var unsentBytes: Int { state.withLock { $0.unsent.count - $0.position } }

  /// Sets an action that is called once when the stream has ended, immediately if it has already.
  package func onClose(_ action: @escaping @Sendable () -> Void) {
    let isOver = state.withLock { state in
      if !state.isFinished { state.onClose = action }
      return state.isFinished
    }
    if isOver { action() }
  }

  /// Sets an action that is called, on an event loop's thread, each time the queue becomes empty.
  package func onDrain(_ action: @escaping @Sendable () -> Void) {
    state.withLock { $0.onDrain = action }
  }

  /// Sends a heartbeat if the stream has been quiet for too long, so that proxies do not close it; called at each tick.
  func sendHeartbeat(now: Int) {
    let isQuiet = state.withLock { state in
      let since = state.quietSince ?? now
      state.quietSince = since
      return since + heartbeat <= now
    }
    if isQuiet { send(form.heartbeat()) }
  }

  /// The next bytes to send: empty if there are none now, nil at the end of the stream.
  package func next() -> [UInt8]? {
    let (piece, onDrain) = state.withLock { state -> ([UInt8]?, (@Sendable () -> Void)?) in
      state.isWakePending = false
      guard state.position < state.unsent.count else { return (state.isClosed ? nil : [], nil) }
      let piece = Array(state.unsent[state.position...].prefix(Self.pieceSize))
      state.position += piece.count
      guard state.position == state.unsent.count else { return (piece, nil) }
      state.unsent.removeAll(keepingCapacity: state.position <= Self.keptCapacity)
      state.position = 0
      return (piece, state.onDrain)
    }
    // Outside the lock: the action usually sends more.
    onDrain?()
    return piece
  }

  /// Called when the connection has stopped using the stream.
  package func finish() {
    let action = state.withLock { state in
      state.isClosed = true
      state.isFinished = true
      state.onDrain = nil
      defer { state.onClose = nil }
      return state.onClose
    }
    action?()
  }

  /// Posts at most one message to the event loop between two calls of ``next()``.
  private func wakeOnce(_ state: inout State) {
    guard !state.isWakePending, !state.isFinished else { return }
    state.isWakePending = true
    wake()
  }
}
