import FoundationEssentials

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
      try transaction.record(
        .read, [PendingFetches.Fetch(id: id, user: user, device: device, time: now)])
      return true
    }
  }

  func recordSent(_ users: [Int: [UserID]]) { recordSent(users, at: now()) }

  private func recordSent(_ users: [Int: [UserID]], at time: Date) {
    database.writeSoon { transaction in
      try transaction.record(
        .sent,
        users.flatMap { id, users in
          users.map { PendingFetches.Fetch(id: id, user: $0, device: nil, time: time) }
        })
    } onFailure: { [weak self, unwritten] error in
      unwritten.keep(users.values.reduce(0) { $0 + $1.count }, after: error) { [weak self] in
        self?.recordSent(users, at: time)
      }
    }
  }

  func recordFetched(_ id: Int, user: UserID, device: String?) {
    let fetch = PendingFetches.Fetch(id: id, user: user, device: device, time: now())
    if pendingFetches.add(fetch) != nil { writePendingFetches() }
  }

  private func writePendingFetches(_ batch: PendingFetches.Batch = .init()) {
    database.writeSoon { [self] transaction in
      let fetches = take(batch)
      if fetches.isEmpty { return }
      let hasParts = try transaction.value(
        "SELECT EXISTS (SELECT 1 FROM audience_part)", as: Bool.self)
      if hasParts == true {
        for fetch in fetches { try transaction.addPendingRecipient(fetch.user, of: fetch.id) }
      }
      try transaction.record(.fetched, fetches)
    } onFailure: { [weak self, unwritten] error in
      unwritten.keep(self?.take(batch).count ?? 0, after: error) { [weak self] in
        self?.writePendingFetches(batch)
      }
    }
  }

  private func take(_ batch: PendingFetches.Batch) -> [PendingFetches.Fetch] {
    pendingFetches.take(for: batch) { _ in writePendingFetches() }
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
  /// Writes the times of receipts' first states, for users and for devices that are registrations of the
  /// recipients; counts the first ones of users.
  fileprivate func record(_ state: ReceiptColumn, _ receivers: [PendingFetches.Fetch]) throws {
    let column = state.rawValue
    var ofDevices: Set<[Int]> = []
    let devices = receivers.filter { $0.device != nil }
    if !devices.isEmpty {
      try send(
        """
        INSERT INTO device_receipt AS receipt (notification, user_id, registration, \(column))
        SELECT recipient.notification, recipient.user_id, registration.id, min(given.time)
        FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::bigint[])
            AS given(notification, user_id, device, time)
          JOIN recipient ON recipient.notification = given.notification
            AND recipient.user_id = given.user_id
          JOIN registration ON registration.id = given.device
            AND registration.user_id = given.user_id
        GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
        ON CONFLICT (notification, user_id, registration)
          DO UPDATE SET \(column) = excluded.\(column) WHERE receipt.\(column) IS NULL
        RETURNING notification, user_id, registration, \(column),
          (SELECT sender FROM notification WHERE id = receipt.notification)
        """, devices.map(\.id), devices.map(\.user), devices.map(\.device), devices.map(\.time)
      ) { [self] result in
        _ = try result.map { row in
          let (id, user): (Int, UserID) = (try row.next(), try row.next())
          let (device, time): (String, Date) = (try row.next(), try row.next())
          ofDevices.insert([id, user.rawValue])
          insertReceipt(
            column, of: id, sender: try row.next(), user: user, device: device, at: time)
        }
      }
    }
    // Nodes that wait for the same rows do so in the same order.
    try send(
      """
      WITH found AS (
        SELECT recipient.notification, recipient.user_id, given.time
        FROM recipient JOIN (
          SELECT notification, user_id, min(time) AS time
          FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS given(notification, user_id, time)
          GROUP BY 1, 2
        ) AS given ON recipient.notification = given.notification
          AND recipient.user_id = given.user_id
        WHERE \(column) IS NULL ORDER BY 1, 2 FOR UPDATE OF recipient
      )
      UPDATE recipient SET \(column) = found.time
      FROM found JOIN notification ON notification.id = found.notification
      WHERE recipient.notification = found.notification AND recipient.user_id = found.user_id
      RETURNING recipient.notification, recipient.user_id, found.time, sender
      """, receivers.map(\.id), receivers.map(\.user), receivers.map(\.time)
    ) { [self] result in
      _ = try result.map { row in
        let (id, user): (Int, UserID) = (try row.next(), try row.next())
        let (time, sender): (Date, UserID?) = (try row.next(), try row.next())
        collected.counts.append(
          .init(notification: id, column: state.count, difference: 1, time: time))
        // A device's receipt is the user's, too.
        if !ofDevices.contains([id, user.rawValue]) {
          insertReceipt(
            column, of: id, sender: sender, user: user, lane: state == .sent ? "embedded" : nil,
            at: time)
        }
      }
    }
  }
}

// MARK: - The inbox

extension PostgresTables {
  func isFetchRecorded(_ id: Int, user: UserID, device: String?) async throws -> Bool? {
    try await database.read { connection in
      try connection.value(Self.fetchIsRecorded, user, id, device)
    }
  }

  private static let fetchIsRecorded = isFetchRecorded("$2", user: "$1", device: "$3::text")

  /// The query whether the fetch of a notification by a user, on a device if it is not null, is recorded; without a
  /// row if the user is no recipient.
  ///
  /// One statement, so that a part of an audience is not written between two.
  static func isFetchRecorded(_ id: String, user: String, device: String) -> String {
    """
    (SELECT recipient.fetched IS NOT NULL AND (\(device) IS NULL OR EXISTS (
      SELECT 1 FROM device_receipt AS receipt
      WHERE receipt.notification = \(id) AND receipt.user_id = \(user)
        AND receipt.registration = \(device) AND receipt.fetched IS NOT NULL))
    FROM recipient WHERE recipient.user_id = \(user) AND recipient.notification = \(id))
    UNION ALL (\(PostgresTransaction.pendingRecipient(user, of: id))) LIMIT 1
    """
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
        SELECT \(StoredNotification.postgresColumns)
        FROM recipient JOIN notification ON notification.id = recipient.notification
        WHERE user_id = $1 AND rich_type = $2 AND payload = $3 AND blob IS NOT NULL
          AND \(StoredNotification.isVisible("$4"))
        ORDER BY recipient.notification DESC LIMIT 1
        """, user, richType, payload, now, read: StoredNotification.init(postgres:))
    }
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
