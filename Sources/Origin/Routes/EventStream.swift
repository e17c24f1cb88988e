import Delivery
import HTTP
import Primitives
import Synchronization

/// A stream to one device or publisher; sends the events that the store has after the last one sent.
final class EventStream: EventSource {
  private struct State {
    var sink: EventSink?
    var last: Int
    /// Whether the caller was still valid after the stream was opened: nothing is sent before.
    var isAdmitted = false
    var isSending = false
    /// Whether ``EventStream/sendNewEvents()`` was called meanwhile.
    var mustRepeat = false
    /// Whether the store may have events to be sent once the client has received those before.
    var isBehind = false
  }

  let caller: Caller
  /// The languages that the client prefers, the best first.
  private let languages: [String]
  private let feed: EventFeed
  private let clock: any SteadyClock
  /// Ends with the stream, also if it is never opened.
  private let permit: StreamPermits.Permit
  private let state: Mutex<State>
  private let opened: @Sendable (EventStream) -> Void
  private let isValid: @Sendable () async throws -> Bool
  private let closed: @Sendable (EventStream) -> Void
  private static let batch = 100

  init(
    of feed: EventFeed, for caller: Caller, in languages: [String], after last: Int,
    permit: StreamPermits.Permit,
    clock: any SteadyClock,
    opened: @escaping @Sendable (EventStream) -> Void,
    isValid: @escaping @Sendable () async throws -> Bool,
    closed: @escaping @Sendable (EventStream) -> Void
  ) {
    (self.feed, self.caller, self.permit, self.clock) = (feed, caller, permit, clock)
    self.languages = languages
    (self.opened, self.isValid, self.closed) = (opened, isValid, closed)
    state = Mutex(State(last: last))
  }

  func open(_ sink: EventSink) {
    let last = state.withLock { state in
      state.sink = sink
      return state.last
    }
    // Only now: for a HEAD, or if the client closes early, the stream is never opened.
    opened(self)
    sink.onClose { [weak self] in
      guard let self else { return }
      permit.end()
      closed(self)
    }
    // A slow client gets the next batch when it has received this one, which bounds the memory.
    sink.onDrain { [weak self] in self?.sendRest() }
    // An ID without data, so that a client disconnected before the first event can resume, too.
    sink.send(Array("id: \(last)\n\n".utf8))
    // Only now: a reload before `opened` did not close it, and a later one will.
    Task {
      guard await !closeIfInvalid() else { return }
      state.withLock { $0.isAdmitted = true }
      sendNewEvents()
    }
  }

  /// Ends the stream if its caller is no longer valid, and returns whether it did.
  @discardableResult
  func closeIfInvalid() async -> Bool {
    if (try? await isValid()) == true { return false }
    state.withLock { $0.sink }?.close()
    return true
  }

  /// Sends new events, in another task, one batch at a time.
  func sendNewEvents() {
    if mayBegin() { Task { await sendBatches() } }
  }

  private func sendRest() {
    if state.withLock({ $0.isBehind }) { sendNewEvents() }
  }

  private func sendBatches() async {
    repeat {
      guard let last = position() else { continue }
      guard
        let events = try? await feed.events(
          for: caller.id, role: caller.role, after: last, limit: Self.batch)
      else {
        state.withLock { $0.sink }?.close()
        continue
      }
      if send(events, isAll: events.count < Self.batch) { feed.recordSent([(caller.id, events)]) }
      if !events.isEmpty, feed.pause > .zero { try? await clock.sleep(for: feed.pause) }
    } while mustRepeat()
  }

  private func mustRepeat() -> Bool {
    state.withLock { state in
      state.isSending = state.mustRepeat
      return state.isSending
    }
  }

  /// Whether nothing else sends; what does repeats it otherwise.
  private func mayBegin() -> Bool {
    state.withLock { state in
      guard state.isAdmitted else { return false }
      state.mustRepeat = state.isSending
      defer { state.isSending = true }
      return !state.isSending
    }
  }

  /// The event after which to send, or nil until the client has received those before.
  private func position() -> Int? {
    let (sink, last) = state.withLock { state in
      state.mustRepeat = false
      // Before the look at the sink, which may be drained at any moment.
      state.isBehind = true
      return (state.sink, state.last)
    }
    return sink?.unsentBytes == 0 ? last : nil
  }
}

// MARK: - Sending to many streams together

extension EventStream {
  /// Begins to send, until ``end(mustRepeat:)``, and returns the event after which; nil if it can't now.
  func begin() -> Int? {
    guard mayBegin() else { return nil }
    guard let last = position() else {
      end(mustRepeat: false)
      return nil
    }
    return last
  }

  /// Sends events, and returns whether there were any and the stream is open; `isAll` is false if there may be more.
  func send(_ events: [FeedEvent], isAll: Bool) -> Bool {
    let sink = state.withLock { state in
      state.last = events.last?.sequence ?? state.last
      state.isBehind = !isAll
      return state.sink
    }
    guard let sink, !events.isEmpty else { return false }
    return sink.send(
      events.flatMap {
        ServerSentEvent(
          id: String($0.sequence), name: $0.name, data: $0.data(for: languages)
        ).bytes
      })
  }

  /// Ends what ``begin()`` began; reads and sends the stream's events if they were asked for meanwhile.
  func end(mustRepeat: Bool) {
    if mustRepeat { state.withLock { $0.mustRepeat = true } }
    if self.mustRepeat() { Task { await sendBatches() } }
  }
}
