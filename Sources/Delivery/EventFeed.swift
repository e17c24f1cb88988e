import FoundationEssentials
package import Push
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
      let found = try await store.events.pushEvents(for: user, after: after, limit: limit)
      return try await Self.events([user: found], by: payloads) {
        [user: try await store.notifications.unreadCount(of: user)]
      }[user] ?? []
    case .publishing(let store):
      let publisher = role == .admin ? nil : user
      return try await store.events.events(after: after, for: publisher, limit: limit).map {
        FeedEvent(sequence: $0.sequence, name: $0.type, $0.text)
      }
    case .counts(let store):
      let changes = try await store.sent.changes(after: after, for: role == .admin ? nil : user)
      guard let last = changes.last else { return [] }
      let others = changes.others.map {
        FeedEvent(sequence: $0.sequence, name: $0.type, $0.text)
      }
      let counts = changes.counts.sorted { $0.key < $1.key }.map { id, counts in
        let numbers = JSONCoding.text(DeliveryCounts(counts))
        return FeedEvent(
          sequence: last, name: "counts", #"{"id":\#(id),"counts":\#(numbers)}"#)
      }
      let events = others + counts
      // What is left out was seen, too.
      return events.last?.sequence == last || events.isEmpty
        ? events : events + [FeedEvent(sequence: last, name: "", "")]
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
    return try await Self.events(found, by: payloads) {
      try await store.notifications.unreadCounts(of: Array(found.keys))
    }
  }

  /// The events of users' pushes; `unread` is called at most once, if a push has a badge.
  private static func events(
    _ pushes: [UserID: [StoredPushEvent]], by payloads: PushPayloads,
    unread: () async throws -> [UserID: Int]
  ) async throws -> [UserID: [FeedEvent]] {
    var announced: [(event: StoredPushEvent, user: UserID, push: AnnouncedPush?)] = []
    for (user, events) in pushes {
      for event in events {
        var push: AnnouncedPush?
        if let id = event.notificationID {
          push = try await payloads.push(ofEvent: event.data, of: id, at: Date())
        }
        announced.append((event, user, push))
      }
    }
    let values = try await payloads.values(
      for: announced.lazy.compactMap { one in one.push.map { ($0, one.user) } })
    let hasBadge = announced.contains { $0.push?.message.countsUnread ?? false }
    let unread = hasBadge ? try await unread() : [:]
    return announced.reduce(into: [:]) { events, one in
      let event = FeedEvent(
        one.event, one.push, badge: unread[one.user] ?? 0,
        values: one.event.notificationID.flatMap { values[$0]?[one.user] } ?? [:])
      events[one.user, default: []].append(event)
    }
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
  /// The notification that the event announces, if any.
  let notificationID: Int?
  private let content: Content

  private enum Content: Sendable {
    case text(String)
    case push(AnnouncedPush, badge: Int, values: [String: String])
  }

  fileprivate init(sequence: Int, name: String, _ text: String) {
    (self.sequence, self.name, content, notificationID) = (sequence, name, .text(text), nil)
  }

  /// A push; `push` is nil if it belongs to no notification, or to one that has gone.
  fileprivate init(
    _ event: StoredPushEvent, _ push: AnnouncedPush?, badge: Int, values: [String: String]
  ) {
    sequence = event.sequence
    if let push {
      (name, notificationID) = ("push", event.notificationID)
      content = .push(push, badge: badge, values: values)
    } else {
      // Of one that has gone, nothing is sent; a client still resumes after it.
      let isText = event.notificationID == nil
      (name, notificationID, content) = (isText ? "push" : "", nil, .text(isText ? event.data : ""))
    }
  }

  /// The notification that it announces, and what it says to who prefers some languages, the best first; nil for a
  /// plain text, and for what has gone.
  package func announced(
    for languages: [String]
  ) -> (notification: StoredNotification, message: PushMessage)? {
    guard case .push(let push, _, let values) = content, let notification = push.notification
    else { return nil }
    return (notification, push.message(for: languages, values: values))
  }

  /// What is sent to who prefers some languages, the best first.
  package func data(for languages: [String]) -> String {
    switch content {
    case .text(let text): text
    case .push(let push, let badge, let values):
      push.made(for: languages, values: values).template.payload(badge: badge).json
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
