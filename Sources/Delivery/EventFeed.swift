import FoundationEssentials
import Push
package import Store

/// The events of a stream of server-sent events, read from the store.
package protocol EventFeed: Sendable {
  var store: Store { get }
  /// The sequence number of the latest event for anybody; 0 before the first.
  func latest() async throws -> Int
  /// The user's events after a sequence number, in order, at most `limit`.
  func events(for user: UserID, role: Role, after: Int, limit: Int) async throws -> [FeedEvent]
  /// Records that events were sent to the user.
  func recordSent(_ events: [FeedEvent], to user: UserID)
}

extension EventFeed {
  /// Records nothing.
  package func recordSent(_ events: [FeedEvent], to user: UserID) {}
}

/// One event; a client resumes after its sequence number (`Last-Event-ID`).
package struct FeedEvent: Sendable {
  package let sequence: Int
  package let name: String
  package let data: String
  /// The notification that the event announces, if any.
  var notificationID: Int?
}

/// The embedded push gateway: a user's pushes.
package struct PushFeed: EventFeed {
  package let store: Store

  /// Reads the store's pushes.
  package init(store: Store) { self.store = store }

  package func latest() async throws -> Int { try await store.events.latestPushEvent() }

  package func events(
    for user: UserID, role: Role, after: Int, limit: Int
  ) async throws -> [FeedEvent] {
    var events: [FeedEvent] = []
    for event in try await store.events.pushEvents(for: user, after: after, limit: limit) {
      let data = try await PushPayload.insertingBadge(event.data) {
        try await store.notifications.unreadCount(of: user)
      }
      events.append(
        FeedEvent(
          sequence: event.sequence, name: "push", data: data, notificationID: event.notificationID))
    }
    return events
  }

  package func recordSent(_ events: [FeedEvent], to user: UserID) {
    let ids = events.compactMap(\.notificationID)
    if !ids.isEmpty { store.notifications.recordSent(ids, user: user) }
  }
}

/// Receipts of a publisher's notifications, and asset events; an admin gets the events of all publishers.
package struct PublisherFeed: EventFeed {
  package let store: Store

  /// Reads the store's events.
  package init(store: Store) { self.store = store }

  package func latest() async throws -> Int { try await store.events.latestEvent() }

  package func events(
    for user: UserID, role: Role, after: Int, limit: Int
  ) async throws -> [FeedEvent] {
    let publisher = role == .admin ? nil : user
    return try await store.events.events(after: after, for: publisher, limit: limit).map {
      FeedEvent(sequence: $0.sequence, name: $0.type, data: $0.text)
    }
  }
}

extension StoredEvent {
  /// The JSON that streams and the webhook send: `{"type":"receipt","id":"…","time":"…",…}`.
  var text: String {
    let head = #"{"type":"\#(type)","id":"\#(token)","time":"\#(time.formatted(.iso8601))""#
    return head + (data == "{}" ? "}" : "," + data.dropFirst())
  }
}
