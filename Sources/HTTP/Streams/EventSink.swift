import CMicroHTTPD
import Synchronization

/// The sending end of one stream of server-sent events; any thread may use it.
package final class EventSink: Sendable {
  private struct State {
    var waiting: [UInt8] = []
    var position = 0
    var isSuspended = false
    var isClosed = false
    var isGone = false
    var lastSent = Ticks.now
    var onClose: (@Sendable () -> Void)?
    var onDrain: (@Sendable () -> Void)?
  }

  /// Alive until `isGone`, which is set under the lock.
  private nonisolated(unsafe) let handle: OpaquePointer
  private let limits: ServerConfiguration.Limits
  private let state = Mutex(State())

  init(_ handle: OpaquePointer, limits: ServerConfiguration.Limits) {
    self.handle = handle
    self.limits = limits
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
      resume(&state)
      return !state.isClosed
    }
  }

  /// Ends the stream after what was sent so far.
  package func close() {
    state.withLock { state in
      state.isClosed = true
      resume(&state)
    }
  }

  /// Ends the stream and asks its client to come back soon, for the server is about to stop.
  func closeForNow() {
    send(Array("retry: 1000\n\n".utf8))
    close()
  }

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

  /// Sets what is called, on an HTTP thread, whenever all that was sent has been handed on.
  package func onDrain(_ action: @escaping @Sendable () -> Void) {
    state.withLock { $0.onDrain = action }
  }

  /// Says that the stream is alive when it has been quiet for too long.
  func beat(_ now: Int) {
    let isQuiet = state.withLock { $0.lastSent + limits.heartbeat.milliseconds <= now }
    if isQuiet { send(Array(":\n\n".utf8)) }
  }

  /// Hands on what waits; suspends the connection when nothing does (MHD_ContentReaderCallback).
  func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
    let (count, drained) = state.withLock { state -> (Int, (@Sendable () -> Void)?) in
      let piece = state.waiting[state.position...].prefix(buffer.count)
      guard piece.isEmpty else {
        buffer.copyBytes(from: piece)
        state.position += piece.count
        guard state.position == state.waiting.count else { return (piece.count, nil) }
        state.waiting.removeAll(keepingCapacity: state.position <= 4096)
        state.position = 0
        return (piece.count, state.onDrain)
      }
      if state.isClosed { return (-1, nil) }  // MHD_CONTENT_READER_END_OF_STREAM
      state.isSuspended = true
      MHD_suspend_connection(handle)
      return (0, nil)
    }
    drained?()
    return count
  }

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

  private func resume(_ state: inout State) {
    guard state.isSuspended, !state.isGone else { return }
    state.isSuspended = false
    MHD_resume_connection(handle)
  }
}
