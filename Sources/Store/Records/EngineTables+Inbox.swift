import Dispatch
import FoundationEssentials

extension EngineTables {
  func markRead(_ id: Int, user: UserID, device: String?) async throws -> Bool {
    try await recordNow(.read, of: id, user: user, device: device)
  }

  func record(
    _ event: ReportedEvent, of id: Int, user: UserID, device: String?
  ) async throws -> Bool {
    switch event {
    case .opened: return try await recordNow(.opened, of: id, user: user, device: device)
    case .dismissed: return try await recordNow(.dismissed, of: id, user: user, device: device)
    case .displayed:
      let now = now()
      let isTheirs = try await database.read { connection in
        try connection.value(
          """
          SELECT true FROM notification
            LEFT JOIN recipient ON recipient.notification = notification.id AND user_id = $1
          WHERE notification.id = $2 AND \(StoredNotification.isVisible("$3"))
            AND (user_id IS NOT NULL
              OR EXISTS (\(connection.pendingRecipient("$1", of: "$2", at: "$3"))))
          """, user, id, now, as: Bool.self)
      }
      // Every device reports it, within the same seconds, as they fetch.
      if isTheirs == true { recordLater(.displayed, of: id, user: user, device: device, at: now) }
      return isTheirs == true
    }
  }

  private func recordNow(
    _ state: RecordedState, of id: Int, user: UserID, device: String?
  ) async throws -> Bool {
    let now = now()
    return try await database.write { transaction in
      guard try transaction.isRecipient(user, of: id, at: now) else { return false }
      try transaction.record(
        state, [NewReceipt(state: state, id: id, user: user, device: device, time: now)])
      if state == .read { transaction.effects.add(.read(user)) }
      return true
    }
  }

  func recordSent(_ users: [Int: [UserID]]) {
    let time = now()
    let receipts = users.flatMap { id, users in
      users.map { NewReceipt(state: .sent, id: id, user: $0, time: time) }
    }
    if let urgency = pendingReceipts.add(receipts, .now) { writePendingReceipts(urgency) }
  }

  func recordFetched(_ id: Int, user: UserID, device: String?) {
    recordLater(.fetched, of: id, user: user, device: device, at: now())
  }

  private func recordLater(
    _ state: RecordedState, of id: Int, user: UserID, device: String?, at time: Date
  ) {
    let receipt = NewReceipt(state: state, id: id, user: user, device: device, time: time)
    // Each commit writes many pages, so it waits for further fetches, unless another change comes.
    let urgency = pendingReceipts.add(CollectionOfOne(receipt), .soon)
    if let urgency { writePendingReceipts(urgency) }
  }

  private func writePendingReceipts(
    _ urgency: PendingReceipts.Urgency, _ batch: PendingReceipts.Batch = .init()
  ) {
    let timeout: DispatchTimeInterval? = urgency == .soon ? .milliseconds(100) : nil
    database.writeSoon(within: timeout) { [self] transaction in
      let receipts = Dictionary(grouping: take(batch), by: \.state)
      if let sent = receipts[.sent] { try transaction.record(.sent, sent) }
      for state in [RecordedState.fetched, .displayed] {
        guard let given = receipts[state] else { continue }
        let hasParts = try transaction.value(
          "SELECT EXISTS (SELECT 1 FROM audience_part)", as: Bool.self)
        if hasParts == true {
          for receipt in given {
            try transaction.addPendingRecipient(receipt.user, of: receipt.id, at: receipt.time)
          }
        }
        try transaction.record(state, given)
      }
    } onFailure: { [weak self, pendingReceipts] error in
      pendingReceipts.keep(self?.take(batch).count ?? 0, after: error) { [weak self] in
        self?.writePendingReceipts(.now, batch)
      }
    }
  }

  private func take(_ batch: PendingReceipts.Batch) -> [NewReceipt] {
    pendingReceipts.take(for: batch) { writePendingReceipts($0) }
  }
}

// MARK: - The inbox

extension EngineTables {
  func isFetchRecorded(_ id: Int, user: UserID, device: String?) async throws -> Bool? {
    let now = now()
    return try await database.read { connection in
      try connection.value(
        connection.isFetchRecorded("$2", user: "$1", device: "CAST($3 AS text)", at: "$4"), user,
        id,
        device, now)
    }
  }

  func soleRecipient(of id: Int) async throws -> UserID? {
    let users: [UserID] = try await database.read { connection in
      try connection.column("SELECT user_id FROM recipient WHERE notification = $1 LIMIT 2", id)
    }
    return users.count == 1 ? users[0] : nil
  }

  func notification(
    _ richType: String, payload: String, sentTo user: UserID
  ) async throws -> StoredNotification? {
    let now = now()
    return try await database.read { connection in
      try connection.first(
        """
        SELECT \(StoredNotification.columns)
        FROM recipient JOIN notification ON notification.id = recipient.notification
        WHERE user_id = $1 AND rich_type = $2 AND payload = $3 AND blob IS NOT NULL
          AND \(StoredNotification.isVisible("$4"))
        ORDER BY recipient.notification DESC LIMIT 1
        """, user, richType, payload, now, read: StoredNotification.init)
    }
  }

  func inbox(
    of user: UserID, unreadOnly: Bool, limit: Int, before: Int?
  ) async throws -> [InboxEntry] {
    let now = now()
    return try await database.read { connection in
      try connection.all(
        """
        SELECT \(StoredNotification.columns), recipient.due, read IS NOT NULL
        FROM recipient JOIN notification ON notification.id = recipient.notification
        WHERE user_id = $1 AND recipient.notification < $2
          AND \(StoredNotification.isListed("$3"))\(unreadOnly ? " AND read IS NULL" : "")
        ORDER BY recipient.notification DESC LIMIT $4
        """, user, before ?? .max, now, max(0, limit)
      ) { row in
        var notification = try StoredNotification(&row)
        notification.replacedBy = nil
        if let due = try row.next(Date?.self), due > notification.notBefore ?? due {
          notification.notBefore = due
        }
        return InboxEntry(notification: notification, isRead: try row.next())
      }
    }
  }

  func ended(
    since time: Date, for users: [UserID], among notification: Int?
  ) async throws -> [EndedNotification] {
    try await database.read { connection in
      try connection.all(
        """
        SELECT \(StoredNotification.columns), user_id, withdrawn, read
        FROM recipient JOIN notification ON notification.id = recipient.notification
        WHERE user_id \(connection.isIn("$1")) AND (withdrawn >= $2 OR read >= $2)
          AND \(notification == nil ? "CAST($3 AS bigint) IS NULL" : "recipient.notification = $3")
        ORDER BY recipient.notification
        """, users, time, notification
      ) { row in
        let ended = try StoredNotification(&row)
        let user: UserID = try row.next()
        let (withdrawn, read): (Date?, Date?) = (try row.next(), try row.next())
        return EndedNotification(
          notification: ended, user: user, isWithdrawn: withdrawn != nil,
          time: withdrawn ?? read ?? time)
      }
    }
  }

  func unreadCount(of user: UserID) async throws -> Int {
    let now = now()
    return try await database.read { connection in
      try connection.value(
        """
        SELECT count(*)
        FROM recipient JOIN notification ON notification.id = recipient.notification
        WHERE user_id = $1 AND read IS NULL AND \(StoredNotification.isListed("$2"))
        """, user, now) ?? 0
    }
  }

  func unreadCounts(of users: [UserID]) async throws -> [UserID: Int] {
    let now = now()
    return try await database.read { connection in
      try connection.dictionary(
        """
        SELECT user_id, count(*)
        FROM recipient JOIN notification ON notification.id = recipient.notification
        WHERE user_id \(connection.isIn("$1")) AND read IS NULL AND \(StoredNotification.isListed("$2"))
        GROUP BY user_id
        """, users, now)
    }
  }
}

extension Queryable {
  /// The query whether the fetch of a notification by a user, on a device if it is not null, is recorded; without a
  /// row if the user is no recipient, or not yet at that time.
  ///
  /// One statement, so that a part of an audience is not written between two.
  func isFetchRecorded(_ id: String, user: String, device: String, at time: String) -> String {
    """
    SELECT recipient.fetched IS NOT NULL AND (\(device) IS NULL OR EXISTS (
      SELECT 1 FROM device_receipt AS receipt
      WHERE receipt.notification = \(id) AND receipt.user_id = \(user)
        AND receipt.registration = \(device) AND receipt.fetched IS NOT NULL))
    FROM recipient WHERE recipient.user_id = \(user) AND recipient.notification = \(id)
      AND (recipient.due IS NULL OR recipient.due <= \(time))
    UNION ALL \(pendingRecipient(user, of: id, at: time)) LIMIT 1
    """
  }
}

extension Changing {
  /// Whether a user is a recipient of a notification, and may know of it now.
  func isRecipient(_ user: UserID, of id: Int, at now: Date) throws -> Bool {
    try addPendingRecipient(user, of: id, at: now)
    return try value(
      """
      SELECT true FROM recipient JOIN notification ON notification.id = recipient.notification
      WHERE user_id = $1 AND notification.id = $2 AND \(StoredNotification.isVisible("$3"))
      """, user, id, now, as: Bool.self) == true
  }

  /// Makes a user of a stored part of an audience a recipient before that part's turn.
  func addPendingRecipient(_ user: UserID, of id: Int, at now: Date) throws {
    // The time of its own has passed; the push event of that time comes with the part.
    try send(
      """
      INSERT INTO recipient(user_id, notification, due)
      SELECT $1, $2, CASE WHEN local_time IS NOT NULL OR per_minute IS NOT NULL THEN 0 END
      FROM notification
      WHERE id = $2 AND EXISTS (\(pendingRecipient("$1", of: "$2", at: "$3")))
      ON CONFLICT DO NOTHING
      """, user, id, now)
  }
}
