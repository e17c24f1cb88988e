import Dispatch
import Delivery
import HTTP
import RichPushAPI
import Store
import Synchronization

/// The open streams of one feed, by their users.
///
/// A notification is only a hint: events are read from the store, so that none is lost.
final class EventStreams: Sendable {
  private let feed: any EventFeed
  private let store: Store
  private let open = Mutex<[UserID: [ObjectIdentifier: EventStream]]>([:])

  init(of feed: any EventFeed, _ store: Store) { (self.feed, self.store) = (feed, store) }

  /// `GET /api/push/stream`, `GET /api/events/stream`: the caller's events as they happen.
  ///
  /// `Last-Event-ID` resumes after that event; without one only later events are sent.
  func get(_ context: RequestContext) throws -> Response {
    _ = try context.query()
    var last = try feed.latest()
    if let text = context.request.fields["Last-Event-ID"], !text.isEmpty {
      guard let sequence = Int(text), sequence >= 0 else {
        throw ServiceError(.invalidRequest, "Last-Event-ID is the id of an event of this stream.")
      }
      // An ID beyond the last one is another store's.
      last = min(sequence, last)
    }
    // The user may have been removed or changed after the credentials were verified.
    guard try store.isCurrent(context.caller) else {
      throw ServiceError(.unauthorized, "The user was removed or changed.")
    }
    return .events(
      EventStream(
        of: feed, for: context.caller, after: last, opened: { [weak self] in self?.add($0) },
        isValid: { [store] in try store.isCurrent(context.caller) },
        closed: { [weak self] in self?.remove($0) }))
  }

  /// Looks for new events of these users.
  func notify(_ users: [UserID]) {
    for stream in streams(of: users) { stream.pump() }
  }

  /// Looks for new events of every listener.
  func notify() { notify(open.withLock { Array($0.keys) }) }

  /// Closes the streams whose callers are no longer valid.
  func close(unless isCurrent: (Caller) -> Bool) {
    let all = open.withLock { $0.values.flatMap(\.values) }
    for stream in all where !isCurrent(stream.caller) { stream.close() }
  }

  /// The number of open streams.
  var count: Int { open.withLock { $0.values.reduce(0) { $0 + $1.count } } }

  private func streams(of users: some Sequence<UserID>) -> [EventStream] {
    open.withLock { open in users.flatMap { open[$0].map { Array($0.values) } ?? [] } }
  }

  private func add(_ stream: EventStream) {
    open.withLock { $0[stream.caller.id, default: [:]][ObjectIdentifier(stream)] = stream }
  }

  private func remove(_ stream: EventStream) {
    open.withLock { open in
      open[stream.caller.id]?[ObjectIdentifier(stream)] = nil
      if open[stream.caller.id]?.isEmpty == true { open[stream.caller.id] = nil }
    }
  }
}

/// One listener, a device or a publisher; sends what the store has after the last event sent.
final class EventStream: EventSource {
  private struct State {
    var sink: EventSink?
    var last: Int
    var isPumping = false
    /// Whether ``EventStream/pump()`` was called meanwhile.
    var mustLookAgain = false
  }

  let caller: Caller
  private let feed: any EventFeed
  private let state: Mutex<State>
  private let opened: @Sendable (EventStream) -> Void
  private let isValid: @Sendable () throws -> Bool
  private let closed: @Sendable (EventStream) -> Void
  private static let queue = DispatchQueue(label: "richpush.streams", attributes: .concurrent)
  private static let batch = 100

  init(
    of feed: any EventFeed, for caller: Caller, after last: Int,
    opened: @escaping @Sendable (EventStream) -> Void,
    isValid: @escaping @Sendable () throws -> Bool,
    closed: @escaping @Sendable (EventStream) -> Void
  ) {
    (self.feed, self.caller) = (feed, caller)
    (self.opened, self.isValid, self.closed) = (opened, isValid, closed)
    state = Mutex(State(last: last))
  }

  func open(_ sink: EventSink) {
    let last = state.withLock { state in
      state.sink = sink
      return state.last
    }
    // Not before: a HEAD, or a client that closes before its body is received, never opens its stream.
    opened(self)
    sink.onClose { [weak self] in
      guard let self else { return }
      closed(self)
    }
    // A slow reader gets the next batch when it has taken this one, so nothing piles up for it.
    sink.onDrain { [weak self] in self?.pump() }
    // An id without data: a listener that is cut off before its first push can resume all the same.
    sink.send(Array("id: \(last)\n\n".utf8))
    // Only now: a reload before `opened` did not close it, and a later one will.
    Self.queue.async { [self] in
      guard (try? isValid()) == true else { return close() }
      pump()
    }
  }

  /// Ends the stream.
  func close() { state.withLock { $0.sink }?.close() }

  /// Sends new events, on another thread, one batch at a time.
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
      guard let sink, sink.unsentBytes == 0 else { continue }
      guard
        let events = try? feed.events(
          for: caller.id, role: caller.role, after: last, limit: Self.batch)
      else {
        sink.close()
        continue
      }
      guard let newest = events.last else { continue }
      state.withLock { $0.last = newest.sequence }
      let bytes = events.flatMap {
        ServerSentEvent(id: String($0.sequence), name: $0.name, data: $0.data).bytes
      }
      if sink.send(bytes) { feed.recordSent(events, to: caller.id) }
    } while isLookWanted()
  }

  private func isLookWanted() -> Bool {
    state.withLock { state in
      state.isPumping = state.mustLookAgain
      return state.isPumping
    }
  }
}
