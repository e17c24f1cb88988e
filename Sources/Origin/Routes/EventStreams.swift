import Delivery
import HTTP
import RichPushAPI
import Store
import Synchronization

/// The open streams of one feed, by user.
///
/// A notification only triggers a read of the store, so no event is lost.
final class EventStreams: Sendable {
  private let feed: EventFeed
  private let store: Store
  private let open = Mutex<[UserID: [ObjectIdentifier: EventStream]]>([:])

  init(of feed: EventFeed, _ store: Store) {
    (self.feed, self.store) = (feed, store)
  }

  /// `GET /api/push/stream`, `GET /api/events/stream`: the caller's events as they happen.
  ///
  /// `Last-Event-ID` resumes after that event; without it only new events are sent.
  ///
  /// `?counts` sends counts in the place of publishers' receipts.
  func get(_ context: RequestContext) async throws -> Response {
    let feed = try self.feed(context)
    var last = try await feed.latest()
    if let text = context.request.fields["Last-Event-ID"], !text.isEmpty {
      guard let sequence = Int(text), sequence >= 0 else {
        throw ServiceError(
          .invalidRequest, "Last-Event-ID is not the ID of an event of this stream.")
      }
      // A larger ID is from another store.
      last = min(sequence, last)
    }
    // The user may have been removed or changed after the credentials were verified.
    guard try await store.isCurrent(context.caller) else {
      throw ServiceError(.unauthorized, "The user was removed or changed.")
    }
    return .events(
      EventStream(
        of: feed, for: context.caller, after: last, opened: { [weak self] in self?.add($0) },
        isValid: { [store] in try await store.isCurrent(context.caller) },
        closed: { [weak self] in self?.remove($0) }))
  }

  private func feed(_ context: RequestContext) throws(ServiceError) -> EventFeed {
    guard case .publishing(let store) = feed else {
      _ = try context.query()
      return feed
    }
    return try context.query("counts")["counts"] == nil ? feed : .counts(store)
  }

  /// Sends new events to these users.
  func notify(_ users: [UserID]) {
    for stream in streams(of: users) { stream.sendNewEvents() }
  }

  /// Sends new events to all users.
  func notify() { notify(open.withLock { Array($0.keys) }) }

  /// Closes the streams whose callers are no longer valid: those of a user, or of all users.
  func closeInvalid(of user: UserID? = nil) async {
    let users = user.map { [$0] } ?? open.withLock { Array($0.keys) }
    for stream in streams(of: users) { await stream.closeIfInvalid() }
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
  }

  let caller: Caller
  private let feed: EventFeed
  private let state: Mutex<State>
  private let opened: @Sendable (EventStream) -> Void
  private let isValid: @Sendable () async throws -> Bool
  private let closed: @Sendable (EventStream) -> Void
  private static let batch = 100

  init(
    of feed: EventFeed, for caller: Caller, after last: Int,
    opened: @escaping @Sendable (EventStream) -> Void,
    isValid: @escaping @Sendable () async throws -> Bool,
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
    // Only now: for a HEAD, or if the client closes early, the stream is never opened.
    opened(self)
    sink.onClose { [weak self] in
      guard let self else { return }
      closed(self)
    }
    // A slow client gets the next batch when it has received this one, which bounds the memory.
    sink.onDrain { [weak self] in self?.sendNewEvents() }
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
    let mustStart = state.withLock { state in
      guard state.isAdmitted else { return false }
      state.mustRepeat = state.isSending
      defer { state.isSending = true }
      return !state.isSending
    }
    if mustStart { Task { await sendBatches() } }
  }

  private func sendBatches() async {
    repeat {
      let (sink, last) = state.withLock { state in
        state.mustRepeat = false
        return (state.sink, state.last)
      }
      guard let sink, sink.unsentBytes == 0 else { continue }
      guard
        let events = try? await feed.events(
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
      if feed.pause > .zero { try? await Task.sleep(for: feed.pause) }
    } while mustRepeat()
  }

  private func mustRepeat() -> Bool {
    state.withLock { state in
      state.isSending = state.mustRepeat
      return state.isSending
    }
  }
}
