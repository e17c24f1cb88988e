import HTTP
import Store
import Synchronization

/// The open streams of one feed, by their users.
///
/// Memory only hurries: what is sent is read from the store, so nothing depends on who listened.
final class EventStreams: Sendable {
  private let feed: any EventFeed
  private let open = Mutex<[UserID: [ObjectIdentifier: EventStream]]>([:])

  init(of feed: any EventFeed) { self.feed = feed }

  /// `GET /api/push/stream`, `GET /api/events/stream`: the caller's events as they come.
  ///
  /// `Last-Event-ID` resumes after that event; without one only what comes from now on is sent.
  func get(_ exchange: Exchange) throws -> Response {
    _ = try exchange.query()
    var last = try feed.latest()
    if let text = exchange.request.fields["Last-Event-ID"], !text.isEmpty {
      guard let sequence = Int(text), sequence >= 0 else {
        throw Refusal(400, "Last-Event-ID is the id of an event of this stream.")
      }
      // An id beyond the last one is another store's: nothing of it is known here.
      last = min(sequence, last)
    }
    // One who was removed after the credentials were looked at.
    guard try feed.isUser(exchange.caller.id) else { throw Refusal(401, "The user was removed.") }
    return .events(
      EventStream(
        of: feed, for: exchange.caller, after: last, opened: { [weak self] in self?.add($0) },
        closed: { [weak self] in self?.remove($0) }))
  }

  /// Looks for new events of these users, because the store says there are some.
  func hurry(_ users: [UserID]) {
    for stream in streams(of: users) { stream.pump() }
  }

  /// Looks for new events of everybody who listens.
  func hurry() { hurry(open.withLock { Array($0.keys) }) }

  /// Ends the streams whose callers have to show their credentials again.
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
