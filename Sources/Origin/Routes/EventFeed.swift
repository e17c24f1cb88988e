import Push
import Store

/// What streams of server-sent events carry, read from the store.
protocol EventFeed: Sendable {
  /// The number of the latest event of all, 0 before the first.
  func latest() throws -> Int
  /// The caller's events after a number, in order, at most `limit`.
  func events(for caller: Caller, after: Int, limit: Int) throws -> [FeedEvent]
  /// Whether the user is there still.
  func isUser(_ id: UserID) throws -> Bool
  /// Hears which events were sent to a listener of the caller's.
  func note(sent events: [FeedEvent], to caller: Caller)
}

/// One event of a stream; its number is the `id` a listener resumes after.
struct FeedEvent: Sendable {
  let sequence: Int
  let name: String
  let data: String
  /// The notification it announces, or nil.
  var notificationID: Int?
}

/// The embedded push gateway: a user's pushes.
struct PushFeed: EventFeed {
  let store: Store

  func isUser(_ id: UserID) throws -> Bool { try store.isUser(id) }

  func latest() throws -> Int { try store.latestPushEvent() }

  func events(for caller: Caller, after: Int, limit: Int) throws -> [FeedEvent] {
    try store.pushEvents(for: caller.id, after: after, limit: limit).map { event in
      let data = try PushText.counting(event.data) { try store.unreadCount(of: caller.id) }
      return FeedEvent(
        sequence: event.sequence, name: "push", data: data, notificationID: event.notificationID)
    }
  }

  func note(sent events: [FeedEvent], to caller: Caller) {
    let ids = events.compactMap(\.notificationID)
    if !ids.isEmpty { store.recordSent(ids, user: caller.id) }
  }
}

/// What happened to a publisher's notifications and to the assets; an admin sees everybody's.
struct PublisherFeed: EventFeed {
  let store: Store

  func isUser(_ id: UserID) throws -> Bool { try store.isUser(id) }

  func latest() throws -> Int { try store.latestEvent() }

  func events(for caller: Caller, after: Int, limit: Int) throws -> [FeedEvent] {
    let publisher = caller.role == .admin ? nil : caller.id
    return try store.events(after: after, for: publisher, limit: limit).map {
      FeedEvent(sequence: $0.sequence, name: $0.type, data: $0.text)
    }
  }

  func note(sent events: [FeedEvent], to caller: Caller) {}
}
