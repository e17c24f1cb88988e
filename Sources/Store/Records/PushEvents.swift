package import FoundationEssentials

/// A message for the devices that listen on the embedded push gateway.
package struct StoredPushEvent: Sendable, Equatable {
  /// Rises with every commit.
  package let sequence: Int
  /// The notification it announces, or nil for a plain text.
  package let notificationID: Int?
  /// The push itself, as the devices get it.
  package let data: String
}

extension Store {
  /// Commits a push that announces no notification: an event for each user, and jobs.
  package func push(_ data: String, to users: [UserID], pushes: [PushInsert] = []) async throws {
    let users = Set(users).sorted()
    let now = now()
    try await database.write { connection in
      try connection.run(
        "INSERT INTO push_event(user, data, created) SELECT value, ?, ? FROM json_each(?)", data,
        now, SQLiteConnection.list(users.map(\.rawValue)))
      for push in pushes {
        try connection.insert(push, notification: nil, due: now, expires: nil, created: now)
      }
    }
    notifyPushObserver(users)
    outbox.notifyObserver(pushes.map(\.lane))
  }

  /// The user's push events after a sequence number, in order, at most `limit`.
  ///
  /// Leaves out those of expired notifications.
  package func pushEvents(
    for user: UserID, after: Int, limit: Int
  ) throws -> [StoredPushEvent] {
    try database.all(
      """
      SELECT sequence, notification, data
      FROM push_event LEFT JOIN notification ON notification.id = push_event.notification
      WHERE user = ? AND sequence > ? AND (expires IS NULL OR expires > ?)
      ORDER BY sequence LIMIT ?
      """, user, after, now(), max(0, limit), as: StoredPushEvent.init)
  }

  /// The sequence number of the latest push event, 0 before the first.
  package func latestPushEvent() throws -> Int {
    try database.value("SELECT seq FROM sqlite_sequence WHERE name = 'push_event'") ?? 0
  }

  /// Inserts the push events of every held notification that is due, each once.
  ///
  /// Returns when the next one is due, or nil if none is held. May run at any time: inserting the events
  /// and ending the hold are one commit.
  package func releaseHeldEvents() async throws -> Date? {
    let next = try database.value("SELECT min(due) FROM held_event", as: Date?.self) ?? nil
    let now = now()
    guard let next, next <= now else { return next }
    let recipients = try await database.write { connection in
      let due = try connection.all(
        "SELECT notification, data FROM held_event WHERE due <= ? ORDER BY due, notification", now
      ) { ($0 as Int, $1 as String) }
      try connection.run("DELETE FROM held_event WHERE due <= ?", now)
      return try due.reduce(into: Set<UserID>()) { recipients, event in
        try recipients.formUnion(connection.insertPushEvents(of: event.0, data: event.1, at: now))
      }
    }
    notifyPushObserver(Array(recipients))
    return try await releaseHeldEvents()
  }

  /// Wakes those who send what was just committed.
  func notifyObservers(of new: NotificationInsert, for recipients: [UserID]) {
    if new.push != nil, new.notBefore.map({ $0 <= now() }) ?? true {
      notifyPushObserver(recipients)
    }
    outbox.notifyObserver(new.pushes.map(\.lane))
  }
}

extension SQLiteConnection {
  /// Inserts the push events and the jobs of a notification, due at once or at its `notBefore`.
  func announce(_ new: NotificationInsert, as id: Int, at now: Date) throws {
    let due = max(new.notBefore ?? now, now)
    if let data = new.push?(id) {
      if due > now {
        try run(
          "INSERT INTO held_event(notification, due, data) VALUES (?, ?, ?)", id, due, data)
      } else {
        try insertPushEvents(of: id, data: data, at: now)
      }
    }
    for push in new.pushes {
      try insert(push, notification: id, due: due, expires: new.expires, created: now)
    }
  }

  /// Cancels what was not sent of a notification.
  func cancelUnsent(_ notification: Int, at now: Date) throws {
    try updateJobs(
      """
      UPDATE job SET state = 'cancelled', updated = ?
      WHERE state = 'queued' AND push IN (SELECT id FROM push WHERE notification = ?)
      """, now, notification)
    try run("DELETE FROM held_event WHERE notification = ?", notification)
  }

  /// Inserts the push event of a notification for each of its recipients, and returns them.
  @discardableResult
  fileprivate func insertPushEvents(
    of notification: Int, data: String, at now: Date
  ) throws -> [UserID] {
    let recipients: [UserID] = try column(
      """
      INSERT INTO push_event(user, notification, data, created)
      SELECT user.id, notification, ?, ? FROM recipient JOIN user ON user.id = recipient.user
      WHERE notification = ? ORDER BY user.id RETURNING user
      """, data, now, notification)
    try insertReceipts("queued", ofAll: notification, lane: "embedded", at: now)
    return recipients
  }
}
