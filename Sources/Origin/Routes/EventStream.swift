import Delivery
import FoundationEssentials
import HTTP
import Primitives
import Store
import Synchronization

/// A stream to one device or publisher; sends the events that the store has after the last one sent.
final class EventStream: EventSource {
  private struct End: Hashable {
    let notification: Int
    let isWithdrawn: Bool
  }

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
    /// Which ends of notifications the client has heard of lately, and when these were.
    var told: [End: Date] = [:]
  }

  let caller: Caller
  var form: StreamForm { format.form }
  private let format: any EventFormat
  private let feed: EventFeed
  private let clock: any SteadyClock
  /// Ends with the stream, also if it is never opened.
  private let permit: StreamPermits.Permit
  private let state: Mutex<State>
  private let opened: @Sendable (EventStream) -> Void
  private let isValid: @Sendable () async throws -> Bool
  private let closed: @Sendable (EventStream) -> Void
  private static let batch = 100
  /// So many bytes of events are sent together, and the rest of the last one.
  private static let batchSize = 128 << 10

  init(
    of feed: EventFeed, for caller: Caller, as format: any EventFormat, after last: Int,
    permit: StreamPermits.Permit,
    clock: any SteadyClock,
    opened: @escaping @Sendable (EventStream) -> Void,
    isValid: @escaping @Sendable () async throws -> Bool,
    closed: @escaping @Sendable (EventStream) -> Void
  ) {
    (self.feed, self.caller, self.permit, self.clock) = (feed, caller, permit, clock)
    self.format = format
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
    sink.send(format.opening(after: last))
    // Only now: a reload before `opened` did not close it, and a later one will.
    Task {
      guard await !closeIfInvalid() else { return }
      state.withLock { $0.isAdmitted = true }
      if format.tellsOfEnds, let missed = try? await format.missed() { send(missed) }
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
      let sent = await send(events, isAll: events.count < Self.batch)
      if !sent.isEmpty { feed.recordSent([(caller.id, sent)]) }
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

// MARK: - What has ended

extension EventStream {
  /// How long ago what a stream is told of may have ended: a commit takes its time, and clocks of nodes differ.
  static let delay: TimeInterval = 60

  /// Whether the client hears of notifications that end.
  var tellsOfEnds: Bool { format.tellsOfEnds }

  /// Tells of notifications that ended, of each once.
  func send(_ ended: [EndedNotification]) {
    let (sink, new, last) = state.withLock { state -> (EventSink?, [EndedNotification], Int) in
      guard state.isAdmitted else { return (nil, [], 0) }
      let new = ended.filter { one in
        let end = End(notification: one.notification.id, isWithdrawn: one.isWithdrawn)
        return state.told.updateValue(one.time, forKey: end) != one.time
      }
      if let latest = ended.map(\.time).max() {
        state.told = state.told.filter { $0.value >= latest - 2 * Self.delay }
      }
      return (state.sink, new, state.last)
    }
    let bytes = format.write(new, after: last)
    if !bytes.isEmpty { sink?.send(bytes) }
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

  /// Sends events, and returns those that the client gets; `isAll` is false if there may be more.
  func send(_ events: [FeedEvent], isAll: Bool) async -> [FeedEvent] {
    let (bytes, shown, count) = await write(events)
    let sink = state.withLock { state in
      if count > 0 { state.last = events[count - 1].sequence }
      state.isBehind = !isAll || count < events.count
      // Otherwise the rest follows when the client has received these.
      if state.isBehind, bytes.isEmpty { state.mustRepeat = true }
      return state.sink
    }
    guard let sink, !bytes.isEmpty else { return [] }
    return sink.send(bytes) ? shown : []
  }

  /// Writes the first of some events: the bytes, which events the client gets, and how many were looked at.
  private func write(
    _ events: [FeedEvent]
  ) async -> (bytes: [UInt8], shown: [FeedEvent], count: Int) {
    var (bytes, shown, count) = ([UInt8](), [FeedEvent](), 0)
    for event in events {
      // A client resumes after all that have the same number.
      if bytes.count >= Self.batchSize, event.sequence != events[count - 1].sequence { break }
      count += 1
      guard let written = await format.write(event) else { continue }
      bytes += written
      shown.append(event)
    }
    return (bytes, shown, count)
  }

  /// Ends what ``begin()`` began; reads and sends the stream's events if they were asked for meanwhile.
  func end(mustRepeat: Bool) {
    if mustRepeat { state.withLock { $0.mustRepeat = true } }
    if self.mustRepeat() { Task { await sendBatches() } }
  }
}
