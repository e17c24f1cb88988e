import HTTP
import Store
import Synchronization

/// The embedded push gateway: each user's open streams, fed from the store.
///
/// Memory only hurries: what is sent is read from the store, so nothing depends on who listened.
final class PushStreams: Sendable {
  private let store: Store
  private let open = Mutex<[String: [ObjectIdentifier: PushStream]]>([:])

  init(store: Store) { self.store = store }

  /// `GET /api/push/stream`: the caller's pushes as server-sent events.
  ///
  /// `Last-Event-ID` resumes after that event; without one only what comes from now on is sent.
  func get(_ exchange: Exchange) throws -> Response {
    _ = try exchange.query()
    var last = try store.latestPushEvent()
    if let text = exchange.request.fields["Last-Event-ID"], !text.isEmpty {
      guard let sequence = Int(text), sequence >= 0 else {
        throw Refusal(400, "Last-Event-ID is the id of an event of this stream.")
      }
      // An id beyond the last one is another store's: nothing of it is known here.
      last = min(sequence, last)
    }
    let stream = PushStream(user: exchange.caller.name, after: last, store: store) { [weak self] in
      self?.remove($0)
    }
    open.withLock { $0[stream.user, default: [:]][ObjectIdentifier(stream)] = stream }
    return .events(stream)
  }

  /// Looks for new events of these users, because the store says there are some.
  func hurry(_ users: [String]) {
    for stream in streams(of: users) { stream.pump() }
  }

  /// Ends the streams of these users: they have to show their credentials again.
  func close(_ users: Set<String>) {
    for stream in streams(of: users) { stream.close() }
  }

  /// The number of open streams.
  var count: Int { open.withLock { $0.values.reduce(0) { $0 + $1.count } } }

  private func streams(of users: some Sequence<String>) -> [PushStream] {
    open.withLock { open in users.flatMap { open[$0].map { Array($0.values) } ?? [] } }
  }

  private func remove(_ stream: PushStream) {
    open.withLock { open in
      open[stream.user]?[ObjectIdentifier(stream)] = nil
      if open[stream.user]?.isEmpty == true { open[stream.user] = nil }
    }
  }
}
