import FoundationEssentials
import Push
import RichPushAPI
package import Store

/// The events of a stream of server-sent events, read from the store.
package enum EventFeed: Sendable {
  /// The embedded push gateway: a user's pushes.
  case pushes(Store)
  /// Receipts of a publisher's notifications, and asset events; an admin gets the events of all publishers.
  case publishing(Store)
  /// The same, with counts in the place of receipts.
  case counts(Store)

  /// The sequence number of the latest event for anybody; 0 before the first.
  package func latest() async throws -> Int {
    switch self {
    case .pushes(let store): try await store.events.latestPushEvent()
    case .publishing(let store), .counts(let store): try await store.events.latestEvent()
    }
  }

  /// The user's events after a sequence number, in order, at most `limit`.
  package func events(
    for user: UserID, role: Role, after: Int, limit: Int
  ) async throws -> [FeedEvent] {
    switch self {
    case .pushes(let store):
      var events: [FeedEvent] = []
      for event in try await store.events.pushEvents(for: user, after: after, limit: limit) {
        let data = try await PushPayload.insertingBadge(event.data) {
          try await store.notifications.unreadCount(of: user)
        }
        events.append(
          FeedEvent(
            sequence: event.sequence, name: "push", data: data,
            notificationID: event.notificationID))
      }
      return events
    case .publishing(let store):
      let publisher = role == .admin ? nil : user
      return try await store.events.events(after: after, for: publisher, limit: limit).map {
        FeedEvent(sequence: $0.sequence, name: $0.type, data: $0.text)
      }
    case .counts(let store):
      let changes = try await store.sent.changes(after: after, for: role == .admin ? nil : user)
      guard let last = changes.last else { return [] }
      let others = changes.others.map {
        FeedEvent(sequence: $0.sequence, name: $0.type, data: $0.text)
      }
      let counts = changes.counts.sorted { $0.key < $1.key }.map { id, counts in
        let numbers = JSONCoding.text(DeliveryCounts(counts))
        return FeedEvent(
          sequence: last, name: "counts", data: #"{"id":\#(id),"counts":\#(numbers)}"#)
      }
      let events = others + counts
      // What is left out was seen, too.
      return events.last?.sequence == last || events.isEmpty
        ? events : events + [FeedEvent(sequence: last, name: "", data: "")]
    }
  }

  /// How long to wait between events, so that a notification has at most two a second.
  package var pause: Duration {
    if case .counts = self { .milliseconds(500) } else { .zero }
  }

  /// Records that pushes were sent to the user.
  package func recordSent(_ events: [FeedEvent], to user: UserID) {
    guard case .pushes(let store) = self else { return }
    let ids = events.compactMap(\.notificationID)
    if !ids.isEmpty { store.notifications.recordSent(ids, user: user) }
  }
}

/// One event; a client resumes after its sequence number (`Last-Event-ID`).
package struct FeedEvent: Sendable {
  package let sequence: Int
  package let name: String
  package let data: String
  /// The notification that the event announces, if any.
  var notificationID: Int?
}

extension StoredEvent {
  /// The JSON that streams and the webhook send: `{"type":"receipt","id":"…","time":"…",…}`.
  var text: String {
    let head = #"{"type":"\#(type)","id":"\#(token)","time":"\#(time.formatted(.iso8601))""#
    return head + (data == "{}" ? "}" : "," + data.dropFirst())
  }
}
