import Dispatch
import HTTP
import Synchronization

/// One listener, a device or a publisher: reads the store after the last event it was sent.
final class EventStream: EventSource {
  private struct State {
    var sink: EventSink?
    var last: Int
    var isPumping = false
    /// Whether somebody asked for a look during one.
    var mustLookAgain = false
  }

  let caller: Caller
  private let feed: any EventFeed
  private let state: Mutex<State>
  private let opened: @Sendable (EventStream) -> Void
  private let closed: @Sendable (EventStream) -> Void
  private static let queue = DispatchQueue(label: "richpush.streams", attributes: .concurrent)
  private static let batch = 100

  init(
    of feed: any EventFeed, for caller: Caller, after last: Int,
    opened: @escaping @Sendable (EventStream) -> Void,
    closed: @escaping @Sendable (EventStream) -> Void
  ) {
    (self.feed, self.caller) = (feed, caller)
    (self.opened, self.closed) = (opened, closed)
    state = Mutex(State(last: last))
  }

  func open(_ sink: EventSink) {
    let last = state.withLock { state in
      state.sink = sink
      return state.last
    }
    // Not before: a HEAD, or a client that goes before its body came, never opens its stream.
    opened(self)
    sink.onClose { [weak self] in
      guard let self else { return }
      closed(self)
    }
    // A slow reader gets the next batch when it has taken this one, so nothing piles up for it.
    sink.onDrain { [weak self] in self?.pump() }
    // An id without data: a listener that is cut off before its first push can resume all the same.
    sink.send(Array("id: \(last)\n\n".utf8))
    pump()
  }

  /// Ends the stream.
  func close() { state.withLock { $0.sink }?.close() }

  /// Sends what is new, on another thread; one look at a time.
  func pump() {
    let mustStart = state.withLock { state in
      guard !state.isPumping else {
        state.mustLookAgain = true
        return false
      }
      state.isPumping = true
      return true
    }
    if mustStart { Self.queue.async { self.sendNew() } }
  }

  private func sendNew() {
    repeat {
      let (sink, last) = state.withLock { state in
        state.mustLookAgain = false
        return (state.sink, state.last)
      }
      guard let sink, sink.backlog == 0 else { continue }
      guard let events = try? feed.events(for: caller, after: last, limit: Self.batch) else {
        sink.close()
        continue
      }
      guard let newest = events.last else { continue }
      state.withLock { $0.last = newest.sequence }
      let bytes = events.flatMap {
        ServerSentEvent(id: String($0.sequence), name: $0.name, data: $0.data).bytes
      }
      if sink.send(bytes) { feed.note(sent: events, to: caller) }
    } while isLookWanted()
  }

  private func isLookWanted() -> Bool {
    state.withLock { state in
      state.isPumping = state.mustLookAgain
      return state.isPumping
    }
  }
}
