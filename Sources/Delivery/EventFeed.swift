import FoundationEssentials
import Push
import RichPushAPI
package import Store

/// The events of a stream of server-sent events, read from the store.
package enum EventFeed: Sendable {
  /// The embedded push gateway: a user's pushes.
  case pushes(Store, PushPayloads)
  /// Receipts of a publisher's notifications, and asset events; an admin gets the events of all publishers.
  case publishing(Store)
  /// The same, with counts in the place of receipts.
  case counts(Store)

  /// The sequence number of the latest event for anybody; 0 before the first.
  package func latest() async throws -> Int {
    switch self {
    case .pushes(let store, _): try await store.events.latestPushEvent()
    case .publishing(let store), .counts(let store): try await store.events.latestEvent()
    }
  }

  /// The user's events after a sequence number, in order, at most `limit`.
  package func events(
    for user: UserID, role: Role, after: Int, limit: Int
  ) async throws -> [FeedEvent] {
    switch self {
    case .pushes(let store, let payloads):
      var events: [FeedEvent] = []
      for event in try await store.events.pushEvents(for: user, after: after, limit: limit) {
        events.append(
          try await FeedEvent(event, by: payloads) {
            try await store.notifications.unreadCount(of: user)
          })
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

  /// The pushes of several users, each after a sequence number of their own, read together.
  ///
  /// Nil if they are more than `limit`, or for another feed: read those of each user.
  package func events(
    after positions: [UserID: Int], limit: Int
  ) async throws -> [UserID: [FeedEvent]]? {
    guard case .pushes(let store, let payloads) = self,
      let found = try await store.events.pushEvents(after: positions, limit: limit)
    else { return nil }
    var unread: [UserID: Int]?
    var events: [UserID: [FeedEvent]] = [:]
    for (user, pushes) in found {
      for push in pushes {
        let event = try await FeedEvent(push, by: payloads) {
          if unread == nil {
            unread = try await store.notifications.unreadCounts(of: Array(found.keys))
          }
          return unread?[user] ?? 0
        }
        events[user, default: []].append(event)
      }
    }
    return events
  }

  /// How long to wait between events, so that a notification has at most two a second.
  package var pause: Duration {
    if case .counts = self { .milliseconds(500) } else { .zero }
  }

  /// Records that pushes were sent to users.
  package func recordSent(_ sent: [(user: UserID, events: [FeedEvent])]) {
    guard case .pushes(let store, _) = self else { return }
    var users: [Int: [UserID]] = [:]
    for (user, events) in sent {
      for case let id? in events.map(\.notificationID) { users[id, default: []].append(user) }
    }
    if !users.isEmpty { store.notifications.recordSent(users) }
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

extension FeedEvent {
  /// A push; `unread` is called only if it has a badge.
  fileprivate init(
    _ push: StoredPushEvent, by payloads: PushPayloads, unread: () async throws -> Int
  ) async throws {
    guard let id = push.notificationID else {
      self.init(sequence: push.sequence, name: "push", data: push.data)
      return
    }
    // Of one that has just gone, nothing is sent; a client still resumes after it.
    guard let made = try await payloads.payload(ofEvent: push.data, of: id, at: Date()) else {
      self.init(sequence: push.sequence, name: "", data: "")
      return
    }
    let badge = made.template.hasBadge ? try await unread() : 0
    self.init(
      sequence: push.sequence, name: "push", data: made.template.payload(badge: badge).json,
      notificationID: id)
  }
}

extension StoredEvent {
  /// The JSON that streams and the webhook send: `{"type":"receipt","id":"…","time":"…",…}`.
  var text: String {
    let head = #"{"type":"\#(type)","id":"\#(token)","time":"\#(time.formatted(.iso8601))""#
    return head + (data == "{}" ? "}" : "," + data.dropFirst())
  }
}
