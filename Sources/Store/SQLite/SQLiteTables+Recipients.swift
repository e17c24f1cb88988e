import FoundationEssentials

extension SQLiteTables {
  func markRead(_ id: Int, user: UserID, device: String?) async throws -> Bool {
    let now = now()
    return try await database.write { connection in
      try connection.addPendingRecipient(user, of: id)
      let isTheirs = try connection.value(
        """
        SELECT 1 FROM recipient JOIN notification ON notification.id = recipient.notification
        WHERE user = ?1 AND notification.id = ?2 AND \(StoredNotification.isVisible("?3"))
        """, user, id, now, as: Bool.self)
      guard isTheirs == true else { return false }
      if try connection.record("read", of: id, user: user, device: device, at: now) {
        try connection.count("read", of: [id: (1, now)], first: "first_read")
      }
      return true
    }
  }

  func recordSent(_ users: [Int: [UserID]]) {
    let now = now()
    database.writeSoon { connection in
      for (id, users) in users.sorted(by: { $0.key < $1.key }) {
        let first = try connection.column(
          """
          UPDATE recipient SET sent = ?1
          WHERE notification = ?2 AND sent IS NULL AND user IN (SELECT value FROM json_each(?3))
          RETURNING user
          """, now, id, SQLiteConnection.list(users.map(\.rawValue)), as: Int.self)
        if first.isEmpty { continue }
        try connection.insertReceipts(
          "sent", of: id, users: SQLiteConnection.list(first), lane: "embedded", at: now)
        try connection.count("reached", of: [id: (first.count, now)], first: "first_sent")
      }
    }
  }

  func recordFetched(_ id: Int, user: UserID, device: String?) {
    let fetch = PendingFetches.Fetch(id: id, user: user, device: device, time: now())
    if pendingFetches.add(fetch) { writePendingFetches() }
  }

  private func writePendingFetches() {
    database.writeSoon { [self] connection in
      let (fetches, hasMore) = pendingFetches.take()
      if hasMore { writePendingFetches() }
      var first: [Int: (number: Int, time: Date)] = [:]
      let hasParts = try connection.value(
        "SELECT EXISTS (SELECT 1 FROM audience_part)", as: Bool.self)
      for fetch in fetches {
        if hasParts == true { try connection.addPendingRecipient(fetch.user, of: fetch.id) }
        let isFirst = try connection.record(
          "fetched", of: fetch.id, user: fetch.user, device: fetch.device, at: fetch.time)
        if isFirst { first[fetch.id, default: (0, fetch.time)].number += 1 }
      }
      try connection.count("fetched", of: first, first: "first_fetched")
    }
  }
}

extension SQLiteConnection {
  /// Writes the time of a receipt's first `column` (`fetched` or `read`), for the user and for the device, if that is a registration of the recipient; returns whether it is the user's first.
  fileprivate func record(
    _ column: String, of id: Int, user: UserID, device: String?, at time: Date
  ) throws -> Bool {
    var isDevices = false
    if let device {
      try run(
        """
        INSERT INTO device_receipt(notification, user, registration)
        SELECT notification, recipient.user, registration.id
        FROM recipient JOIN registration ON registration.user = recipient.user
        WHERE notification = ? AND recipient.user = ? AND registration.id = ?
        ON CONFLICT DO NOTHING
        """, id, user, device)
      isDevices =
        try run(
          """
          UPDATE device_receipt SET \(column) = ?
          WHERE notification = ? AND user = ? AND registration = ? AND \(column) IS NULL
          """, time, id, user, device) == 1
      if isDevices { try insertReceipt(column, of: id, user: user, device: device, at: time) }
    }
    let isUsers =
      try run(
        "UPDATE recipient SET \(column) = ? WHERE user = ? AND notification = ? AND \(column) IS NULL",
        time, user, id) == 1
    // A device's receipt is the user's, too.
    if isUsers, !isDevices {
      try insertReceipt(column, of: id, user: user, at: time)
    }
    return isUsers
  }
}

// MARK: - The inbox

extension SQLiteTables {
  func isFetchRecorded(_ id: Int, user: UserID, device: String?) throws -> Bool? {
    // One statement, so that a part of an audience is not written between two.
    try database.value(
      """
      SELECT recipient.fetched IS NOT NULL AND (?3 IS NULL OR EXISTS (
        SELECT 1 FROM device_receipt AS receipt
        WHERE receipt.notification = ?2 AND receipt.user = ?1 AND registration = ?3
          AND receipt.fetched IS NOT NULL))
      FROM recipient WHERE user = ?1 AND notification = ?2
      UNION ALL \(SQLiteConnection.pendingRecipient) LIMIT 1
      """, user, id, device)
  }

  func soleRecipient(of id: Int) throws -> UserID? {
    let users: [UserID] = try database.column(
      "SELECT user FROM recipient WHERE notification = ? LIMIT 2", id)
    return users.count == 1 ? users[0] : nil
  }

  func inbox(
    of user: UserID, unreadOnly: Bool, limit: Int, before: Int?
  ) throws -> [InboxEntry] {
    try database.all(
      """
      SELECT \(StoredNotification.columns), read IS NOT NULL
      FROM recipient JOIN notification ON notification.id = recipient.notification
      WHERE user = ?1 AND recipient.notification < ?2
        AND \(StoredNotification.isVisible("?3"))\(unreadOnly ? " AND read IS NULL" : "")
      ORDER BY recipient.notification DESC LIMIT ?4
      """, user, before ?? .max, now(), max(0, limit)
    ) { row in
      InboxEntry(notification: try StoredNotification(&row), isRead: try row.next())
    }
  }

  func unreadCount(of user: UserID) throws -> Int {
    try database.value(
      """
      SELECT count(*) FROM recipient JOIN notification ON notification.id = recipient.notification
      WHERE user = ?1 AND read IS NULL AND \(StoredNotification.isVisible("?2"))
      """, user, now()) ?? 0
  }

  func unreadCounts(of users: [UserID]) throws -> [UserID: Int] {
    try database.dictionary(
      """
      SELECT user, count(*) FROM json_each(?1) AS wanted CROSS JOIN recipient ON user = wanted.value
        JOIN notification ON notification.id = recipient.notification
      WHERE read IS NULL AND \(StoredNotification.isVisible("?2")) GROUP BY user
      """, SQLiteConnection.list(users.map(\.rawValue)), now())
  }
}
