package import FoundationEssentials

/// A notification as one of its recipients sees it.
package struct InboxEntry: Sendable, Equatable {
  /// The notification.
  package let notification: RichNotification
  /// Whether the user has marked it read.
  package let isRead: Bool
}

/// What became of a notification at one of its recipients.
package struct Receipt: Sendable, Equatable {
  /// The recipient.
  package let user: String
  /// When a device of the user was first told by the embedded gateway, or nil.
  package let sent: Date?
  /// When a device of the user first fetched the content, or nil.
  package let fetched: Date?
  /// When the user marked it read, or nil.
  package let read: Date?
}

extension Store {
  /// Whether the user may get the notification.
  package func isRecipient(_ id: Int, user: String) throws -> Bool {
    try database.read { connection in
      try connection.value(
        "SELECT 1 FROM recipient WHERE user = ? AND notification = ?", user, id) ?? false
    }
  }

  /// The user's notifications, the newest first, at most `limit`, with ids below `before`.
  package func inbox(
    of user: String, unreadOnly: Bool = false, limit: Int, before: Int? = nil
  ) throws -> [InboxEntry] {
    try database.read { connection in
      try connection.all(
        """
        SELECT \(RichNotification.columns), read IS NOT NULL
        FROM recipient JOIN notification ON notification.id = recipient.notification
        WHERE user = ?1 AND recipient.notification < ?2
          AND \(RichNotification.isVisible("?3"))\(unreadOnly ? " AND read IS NULL" : "")
        ORDER BY recipient.notification DESC LIMIT ?4
        """, user, before ?? .max, now(), max(0, limit)
      ) { row in
        InboxEntry(notification: try RichNotification(&row), isRead: try row.next())
      }
    }
  }

  /// How many notifications the user has not marked read.
  package func unreadCount(of user: String) throws -> Int {
    try database.read { connection in
      try connection.value(
        """
        SELECT count(*) FROM recipient JOIN notification ON notification.id = recipient.notification
        WHERE user = ?1 AND read IS NULL AND \(RichNotification.isVisible("?2"))
        """, user, now()) ?? 0
    }
  }

  /// Marks the user's notification read; false when the user has no such notification.
  ///
  /// The first time counts; marking it again changes nothing.
  package func markRead(_ id: Int, user: String) async throws -> Bool {
    let moment = now()
    return try await database.write { connection in
      try connection.run(
        """
        UPDATE recipient SET read = coalesce(read, ?1) WHERE user = ?2 AND notification = ?3
          AND EXISTS (SELECT 1 FROM notification WHERE id = ?3 AND \(RichNotification.isVisible("?1")))
        """, moment, user, id) == 1
    }
  }

  /// Notes that a device of the user was told of notifications; the first time counts.
  ///
  /// Returns at once: the note is written with the next commit.
  package func recordSent(_ ids: [Int], user: String) {
    let moment = now()
    database.writeSoon { connection in
      for id in ids {
        try connection.run(
          "UPDATE recipient SET sent = ? WHERE user = ? AND notification = ? AND sent IS NULL",
          moment, user, id)
      }
    }
  }

  /// Notes that a device of the user fetched the content; the first time counts.
  ///
  /// Returns at once: the note is written with the next commit.
  package func recordFetched(_ id: Int, user: String) {
    if fetchNotes.add(FetchNotes.Note(id: id, user: user, moment: now())) { writeFetchNotes() }
  }

  private func writeFetchNotes() {
    database.writeSoon { [self] connection in
      let (notes, hasMore) = fetchNotes.take()
      if hasMore { writeFetchNotes() }
      for note in notes {
        try connection.run(
          """
          UPDATE recipient SET fetched = ? WHERE user = ? AND notification = ? AND fetched IS NULL
          """, note.moment, note.user, note.id)
      }
    }
  }

  /// The receipts of a notification, by user.
  package func receipts(of id: Int) throws -> [Receipt] {
    try database.read { connection in
      try connection.all(
        "SELECT user, sent, fetched, read FROM recipient WHERE notification = ? ORDER BY user", id
      ) { row in
        Receipt(
          user: try row.next(), sent: try row.next(), fetched: try row.next(),
          read: try row.next())
      }
    }
  }
}
