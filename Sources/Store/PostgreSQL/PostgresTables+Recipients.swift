import FoundationEssentials
import Synchronization

extension PostgresTables {
  func markRead(_ id: Int, user: UserID, device: String?) async throws -> Bool {
    let now = now()
    return try await database.write { transaction in
      try transaction.addPendingRecipient(user, of: id)
      let isTheirs = try transaction.value(
        """
        SELECT true FROM recipient JOIN notification ON notification.id = recipient.notification
        WHERE user_id = $1 AND notification.id = $2 AND \(StoredNotification.isVisible("$3"))
        """, user, id, now, as: Bool.self)
      guard isTheirs == true else { return false }
      try transaction.record(.read, of: id, user: user, device: device, at: now)
      return true
    }
  }

  func recordSent(_ users: [Int: [UserID]]) {
    let now = now()
    database.writeSoon { transaction in
      for (id, users) in users.sorted(by: { $0.key < $1.key }) {
        for user in users.sorted() {
          try transaction.record(.sent, of: id, user: user, device: nil, at: now)
        }
      }
    }
  }

  func recordFetched(_ id: Int, user: UserID, device: String?) {
    let fetch = PendingFetches.Fetch(id: id, user: user, device: device, time: now())
    if pendingFetches.add(fetch) { writePendingFetches() }
  }

  private func writePendingFetches() {
    // The same ones if the transaction is repeated.
    let taken = Mutex<[PendingFetches.Fetch]?>(nil)
    database.writeSoon { [self] transaction in
      let fetches = taken.withLock { taken in
        if let taken { return taken }
        let (fetches, hasMore) = pendingFetches.take()
        if hasMore { writePendingFetches() }
        // Nodes that wait for the same rows do so in the same order.
        taken = fetches.sorted { ($0.id, $0.user) < ($1.id, $1.user) }
        return taken ?? []
      }
      let hasParts = try transaction.value(
        "SELECT EXISTS (SELECT 1 FROM audience_part)", as: Bool.self)
      for fetch in fetches {
        if hasParts == true { try transaction.addPendingRecipient(fetch.user, of: fetch.id) }
        try transaction.record(
          .fetched, of: fetch.id, user: fetch.user, device: fetch.device, at: fetch.time)
      }
    }
  }
}

/// What a recipient's row has the time of.
private enum ReceiptColumn: String {
  case sent, fetched, read

  var count: CountColumn {
    switch self {
    case .sent: .reached
    case .fetched: .fetched
    case .read: .read
    }
  }
}

extension PostgresTransaction {
  /// Writes the time of a receipt's first state, for the user and for the device, if that is a registration
  /// of the recipient; counts it if it is the user's first.
  fileprivate func record(
    _ state: ReceiptColumn, of id: Int, user: UserID, device: String?, at time: Date
  ) throws {
    let column = state.rawValue
    var isDevices = false
    if let device {
      try send(
        """
        INSERT INTO device_receipt AS receipt (notification, user_id, registration, \(column))
        SELECT recipient.notification, recipient.user_id, registration.id, $1
        FROM recipient JOIN registration ON registration.user_id = recipient.user_id
        WHERE recipient.notification = $2 AND recipient.user_id = $3 AND registration.id = $4
        ON CONFLICT (notification, user_id, registration)
          DO UPDATE SET \(column) = excluded.\(column) WHERE receipt.\(column) IS NULL
        RETURNING (SELECT sender FROM notification WHERE id = receipt.notification)
        """, time, id, user, device
      ) { [self] result in
        guard let sender = try result.map({ row in try row.next(UserID?.self) }).first else {
          return
        }
        isDevices = true
        insertReceipt(column, of: id, sender: sender, user: user, device: device, at: time)
      }
    }
    try send(
      """
      UPDATE recipient SET \(column) = $1 FROM notification
      WHERE notification.id = recipient.notification AND user_id = $2 AND notification.id = $3
        AND \(column) IS NULL
      RETURNING sender
      """, time, user, id
    ) { [self] result in
      guard let sender = try result.map({ row in try row.next(UserID?.self) }).first else { return }
      collected.counts.append(
        .init(notification: id, column: state.count, difference: 1, time: time))
      // A device's receipt is the user's, too.
      if !isDevices {
        insertReceipt(
          column, of: id, sender: sender, user: user, lane: state == .sent ? "embedded" : nil,
          at: time)
      }
    }
  }
}

// MARK: - The inbox

extension PostgresTables {
  func isFetchRecorded(_ id: Int, user: UserID, device: String?) async throws -> Bool? {
    // One statement, so that a part of an audience is not written between two.
    try await database.read { connection in
      try connection.value(
        """
        (SELECT recipient.fetched IS NOT NULL AND ($3::text IS NULL OR EXISTS (
          SELECT 1 FROM device_receipt AS receipt
          WHERE receipt.notification = $2 AND receipt.user_id = $1 AND registration = $3
            AND receipt.fetched IS NOT NULL))
        FROM recipient WHERE user_id = $1 AND notification = $2)
        UNION ALL (\(PostgresTransaction.pendingRecipient)) LIMIT 1
        """, user, id, device)
    }
  }

  func soleRecipient(of id: Int) async throws -> UserID? {
    let users: [UserID] = try await database.read { connection in
      try connection.column("SELECT user_id FROM recipient WHERE notification = $1 LIMIT 2", id)
    }
    return users.count == 1 ? users[0] : nil
  }

  func inbox(
    of user: UserID, unreadOnly: Bool, limit: Int, before: Int?
  ) async throws -> [InboxEntry] {
    let now = now()
    return try await database.read { connection in
      try connection.all(
        """
        SELECT \(StoredNotification.postgresColumns), read IS NOT NULL
        FROM recipient JOIN notification ON notification.id = recipient.notification
        WHERE user_id = $1 AND recipient.notification < $2
          AND \(StoredNotification.isVisible("$3"))\(unreadOnly ? " AND read IS NULL" : "")
        ORDER BY recipient.notification DESC LIMIT $4
        """, user, before ?? .max, now, max(0, limit)
      ) { row in
        InboxEntry(
          notification: try StoredNotification(postgres: &row), isRead: try row.next())
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
        WHERE user_id = $1 AND read IS NULL AND \(StoredNotification.isVisible("$2"))
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
        WHERE user_id = ANY($1) AND read IS NULL AND \(StoredNotification.isVisible("$2"))
        GROUP BY user_id
        """, users, now)
    }
  }
}
