import FoundationEssentials

/// A message for the devices that listen on the embedded push gateway.
package struct PushEvent: Sendable, Equatable {
  /// The event's place in the order of commits: higher than that of every event before it.
  package let sequence: Int
  /// The notification it announces, or nil for a plain text.
  package let notificationID: Int?
  /// The push itself, as the devices get it.
  package let data: String
}

extension Store {
  /// Commits a push that announces no notification: an event for each user, and jobs.
  package func push(_ data: String, to users: [UserID], pushes: [NewPush] = []) async throws {
    let users = Array(Set(users)).sorted()
    let created = now()
    try await database.write { connection in
      try connection.insertPushEvents(
        for: users, notification: nil, data: data, created: created)
      for push in pushes {
        try connection.insert(
          push, notification: nil, due: created, expires: nil, created: created)
      }
    }
    tellPushObserver(users)
    outbox.tellObserver(Set(pushes.map(\.lane)))
  }

  /// The user's push events after a sequence number, in order, at most `limit`.
  ///
  /// Events of expired notifications are left out.
  package func pushEvents(for user: UserID, after: Int, limit: Int) throws -> [PushEvent] {
    try database.read { connection in
      try connection.all(
        """
        SELECT sequence, notification, data
        FROM push_event LEFT JOIN notification ON notification.id = push_event.notification
        WHERE user = ? AND sequence > ? AND (expires IS NULL OR expires > ?)
        ORDER BY sequence LIMIT ?
        """, user, after, now(), max(0, limit)
      ) { row in
        PushEvent(
          sequence: try row.next(), notificationID: try row.next(), data: try row.next())
      }
    }
  }

  /// The sequence number of the latest push event of all, 0 before the first.
  package func latestPushEvent() throws -> Int {
    try database.read { connection in
      try connection.value("SELECT seq FROM sqlite_sequence WHERE name = 'push_event'") ?? 0
    }
  }
}

extension Connection {
  func insertPushEvents(
    for users: [UserID], notification: Int?, data: String, created: Date
  ) throws {
    for user in users {
      try run(
        "INSERT INTO push_event(user, notification, data, created) VALUES (?, ?, ?, ?)",
        user, notification, data, created)
    }
  }
}
