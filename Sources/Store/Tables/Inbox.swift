import FoundationEssentials

/// A notification as one of its recipients sees it.
package struct InboxEntry: Sendable, Equatable {
  /// The notification.
  package let notification: RichNotification
  /// Whether the user has marked it read.
  package let isRead: Bool
}

extension Store {
  /// Whether the user may get the notification.
  package func isRecipient(_ id: Int, user: UserID) throws -> Bool {
    try database.read { connection in
      try connection.value(
        "SELECT 1 FROM recipient WHERE user = ? AND notification = ?", user, id) ?? false
    }
  }

  /// The user's notifications, the newest first, at most `limit`, with ids below `before`.
  package func inbox(
    of user: UserID, unreadOnly: Bool = false, limit: Int, before: Int? = nil
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
  package func unreadCount(of user: UserID) throws -> Int {
    try database.read { connection in
      try connection.value(
        """
        SELECT count(*) FROM recipient JOIN notification ON notification.id = recipient.notification
        WHERE user = ?1 AND read IS NULL AND \(RichNotification.isVisible("?2"))
        """, user, now()) ?? 0
    }
  }
}
