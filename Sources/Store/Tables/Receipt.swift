package import FoundationEssentials

/// What became of a notification at one of its recipients.
package struct Receipt: Sendable, Equatable {
  /// The recipient.
  package let userID: UserID
  /// The recipient's name, or nil when the user was removed.
  package let user: String?
  /// When a device of the user was first told by the embedded gateway, or nil.
  package let sent: Date?
  /// When a device of the user first fetched the content, or nil.
  package let fetched: Date?
  /// When the user marked it read, or nil.
  package let read: Date?
}

/// What became of a notification at a device that says which one it is.
package struct DeviceReceipt: Sendable, Equatable {
  /// The user whose device it is.
  package let user: String
  /// The id of the device's registration.
  package let registration: String
  /// When it first fetched the content, or nil.
  package let fetched: Date?
  /// When the user marked it read there, or nil.
  package let read: Date?
}

extension Store {
  /// Marks the user's notification read; false when the user has no such notification.
  ///
  /// The first time counts, for the user and for each registration that the device names; a
  /// registration that is not the user's is left aside.
  package func markRead(_ id: Int, user: UserID, device: String? = nil) async throws -> Bool {
    let moment = now()
    return try await database.write { connection in
      let isTheirs = try connection.value(
        """
        SELECT 1 FROM recipient JOIN notification ON notification.id = recipient.notification
        WHERE user = ?1 AND notification.id = ?2 AND \(RichNotification.isVisible("?3"))
        """, user, id, moment, as: Bool.self)
      guard isTheirs == true else { return false }
      if let device { try connection.note("read", of: id, at: device, user: user, moment) }
      try connection.run(
        "UPDATE recipient SET read = ? WHERE user = ? AND notification = ? AND read IS NULL",
        moment, user, id)
      return true
    }
  }

  /// Notes that a device of the user was told of notifications; the first time counts.
  ///
  /// Returns at once: the note is written with the next commit.
  package func recordSent(_ ids: [Int], user: UserID) {
    let moment = now()
    database.writeSoon { connection in
      for id in ids {
        try connection.run(
          "UPDATE recipient SET sent = ? WHERE user = ? AND notification = ? AND sent IS NULL",
          moment, user, id)
      }
    }
  }

  /// Notes that a device of the user fetched the content; the first time counts, for the user and
  /// for each registration that the device names.
  ///
  /// Returns at once: the note is written with the next commit.
  package func recordFetched(_ id: Int, user: UserID, device: String? = nil) {
    let note = FetchNotes.Note(id: id, user: user, device: device, moment: now())
    if fetchNotes.add(note) { writeFetchNotes() }
  }

  private func writeFetchNotes() {
    database.writeSoon { [self] connection in
      let (notes, hasMore) = fetchNotes.take()
      if hasMore { writeFetchNotes() }
      for note in notes {
        if let device = note.device {
          try connection.note("fetched", of: note.id, at: device, user: note.user, note.moment)
        }
        try connection.run(
          """
          UPDATE recipient SET fetched = ? WHERE user = ? AND notification = ? AND fetched IS NULL
          """, note.moment, note.user, note.id)
      }
    }
  }

  /// The receipts of a notification, by the users' names.
  package func receipts(of id: Int) throws -> [Receipt] {
    try database.read { connection in
      try connection.all(
        """
        SELECT recipient.user, name, sent, fetched, read
        FROM recipient LEFT JOIN user ON user.id = recipient.user
        WHERE notification = ? ORDER BY name IS NULL, name, recipient.user
        """, id
      ) { row in
        Receipt(
          userID: try row.next(), user: try row.next(), sent: try row.next(),
          fetched: try row.next(),
          read: try row.next())
      }
    }
  }

  /// The only user who gets a notification; nil when there are more, or none.
  package func soleRecipient(of id: Int) throws -> UserID? {
    let users = try database.read { connection in
      try connection.all("SELECT user FROM recipient WHERE notification = ? LIMIT 2", id) {
        try $0.next(UserID.self)
      }
    }
    return users.count == 1 ? users[0] : nil
  }

  /// The receipts of the devices that said which one they are, by user and registration.
  package func deviceReceipts(of id: Int) throws -> [DeviceReceipt] {
    try database.read { connection in
      try connection.all(
        """
        SELECT name, registration, fetched, read
        FROM device_receipt JOIN user ON user.id = device_receipt.user
        WHERE notification = ? ORDER BY name, registration
        """, id
      ) { row in
        DeviceReceipt(
          user: try row.next(), registration: try row.next(), fetched: try row.next(),
          read: try row.next())
      }
    }
  }
}

extension Connection {
  /// Notes in a column what a recipient's device did, if the registration is the recipient's.
  fileprivate func note(
    _ column: String, of id: Int, at device: String, user: UserID, _ moment: Date
  ) throws {
    try run(
      """
      INSERT INTO device_receipt(notification, user, registration)
      SELECT notification, recipient.user, registration.id
      FROM recipient JOIN registration ON registration.user = recipient.user
      WHERE notification = ? AND recipient.user = ? AND registration.id = ?
      ON CONFLICT DO NOTHING
      """, id, user, device)
    try run(
      """
      UPDATE device_receipt SET \(column) = ?
      WHERE notification = ? AND user = ? AND registration = ? AND \(column) IS NULL
      """, moment, id, user, device)
  }
}
