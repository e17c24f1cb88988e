import Dispatch
import FoundationEssentials
import Primitives

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
      if try connection.recordRead(id, user: user, device: device, at: now) {
        try connection.count("read", of: [id: (1, now)], first: "first_read")
      }
      return true
    }
  }

  func recordSent(_ users: [Int: [UserID]]) { recordSent(users, at: now()) }

  private func recordSent(_ users: [Int: [UserID]], at time: Date) {
    database.writeSoon { connection in
      for (id, users) in users.sorted(by: { $0.key < $1.key }) {
        let first = try connection.column(
          """
          UPDATE recipient SET sent = ?1
          WHERE notification = ?2 AND sent IS NULL AND user IN (SELECT value FROM json_each(?3))
          RETURNING user
          """, time, id, SQLiteConnection.list(users.map(\.rawValue)), as: Int.self)
        if first.isEmpty { continue }
        try connection.insertReceipts(
          "sent", of: id, users: SQLiteConnection.list(first), lane: "embedded", at: time)
        try connection.count("reached", of: [id: (first.count, time)], first: "first_sent")
      }
    } onFailure: { [weak self, unwritten] error in
      unwritten.keep(users.values.reduce(0) { $0 + $1.count }, after: error) { [weak self] in
        self?.recordSent(users, at: time)
      }
    }
  }

  func recordFetched(_ id: Int, user: UserID, device: String?) {
    let fetch = PendingFetches.Fetch(id: id, user: user, device: device, time: now())
    if let urgency = pendingFetches.add(fetch) { writePendingFetches(urgency) }
  }

  private func writePendingFetches(
    _ urgency: PendingFetches.Urgency, _ batch: PendingFetches.Batch = .init()
  ) {
    // Each commit writes many pages, so it waits for further fetches, unless another change comes.
    let timeout: DispatchTimeInterval? = urgency == .soon ? .milliseconds(100) : nil
    database.writeSoon(within: timeout) { [self] connection in
      let fetches = take(batch)
      if fetches.isEmpty { return }
      let hasParts = try connection.value(
        "SELECT EXISTS (SELECT 1 FROM audience_part)", as: Bool.self)
      if hasParts == true {
        for fetch in fetches { try connection.addPendingRecipient(fetch.user, of: fetch.id) }
      }
      try connection.record(fetches)
    } onFailure: { [weak self, unwritten] error in
      unwritten.keep(self?.take(batch).count ?? 0, after: error) { [weak self] in
        self?.writePendingFetches(.now, batch)
      }
    }
  }

  private func take(_ batch: PendingFetches.Batch) -> [PendingFetches.Fetch] {
    pendingFetches.take(for: batch) { writePendingFetches($0) }
  }
}

extension SQLiteConnection {
  /// Writes that a user marked a notification read, on a device if it is a registration of the user's;
  /// returns whether it is the first time.
  fileprivate func recordRead(
    _ id: Int, user: UserID, device: String?, at time: Date
  ) throws -> Bool {
    var isDevices = false
    if let device {
      isDevices =
        try value(
          """
          INSERT INTO device_receipt AS receipt (notification, user, registration, read)
          SELECT notification, recipient.user, registration.id, ?
          FROM recipient JOIN registration ON registration.user = recipient.user
          WHERE notification = ? AND recipient.user = ? AND registration.id = ?
          ON CONFLICT DO UPDATE SET read = excluded.read WHERE receipt.read IS NULL RETURNING 1
          """, time, id, user, device, as: Bool.self) == true
      if isDevices { try insertReceipt("read", of: id, user: user, device: device, at: time) }
    }
    let isUsers =
      try run(
        "UPDATE recipient SET read = ? WHERE user = ? AND notification = ? AND read IS NULL",
        time, user, id) == 1
    // A device's receipt is the user's, too.
    if isUsers, !isDevices { try insertReceipt("read", of: id, user: user, at: time) }
    return isUsers
  }
}

// MARK: - Fetches

extension SQLiteConnection {
  /// Writes the times of first fetches, of users and of those devices that are registrations of theirs, with
  /// their events and counts.
  fileprivate func record(_ fetches: [PendingFetches.Fetch]) throws {
    let areUsers = try changes(
      "UPDATE recipient SET fetched = ? WHERE user = ? AND notification = ? AND fetched IS NULL",
      fetches
    ) { ($0.time, $0.user, $0.id) }
    let areDevices = try firstsOfDevices(fetches, areUsers)
    var receipts: [PendingFetches.Fetch] = []
    var counts: [Int: (number: Int, time: Date)] = [:]
    for (fetch, (isUsers, isDevices)) in zip(fetches, zip(areUsers, areDevices)) {
      // A device's receipt is the user's, too.
      if isDevices {
        receipts.append(fetch)
      } else if isUsers {
        receipts.append(fetch.withoutDevice)
      }
      if isUsers { counts[fetch.id, default: (0, fetch.time)].number += 1 }
    }
    try insertReceipts(of: receipts)
    try count("fetched", of: counts, first: "first_fetched")
  }

  /// Writes the times of those fetches that are the first of a registration of a recipient; returns which.
  private func firstsOfDevices(
    _ fetches: [PendingFetches.Fetch], _ areUsers: [Bool]
  ) throws -> [Bool] {
    var areFirst = [Bool](repeating: false, count: fetches.count)
    let given = fetches.indices.filter { fetches[$0].device != nil }
    let owners: [UserID?] = try values(
      "SELECT user FROM registration INDEXED BY registration_in_order WHERE id = ?", given
    ) { fetches[$0].device }
    let theirs = try zip(given, owners).filter { index, owner in
      // If it is not the user's first, it may be nobody's.
      let fetch = fetches[index]
      return try owner == fetch.user && (areUsers[index] || isRecipient(fetch.user, of: fetch.id))
    }.map(\.0)
    let changed = try changes(
      """
      INSERT INTO device_receipt AS receipt (notification, user, registration, fetched)
      VALUES (?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET fetched = excluded.fetched WHERE receipt.fetched IS NULL
      """, theirs
    ) { (fetches[$0].id, fetches[$0].user, fetches[$0].device, fetches[$0].time) }
    for (index, isFirst) in zip(theirs, changed) { areFirst[index] = isFirst }
    return areFirst
  }

  private func isRecipient(_ user: UserID, of id: Int) throws -> Bool {
    try value(
      "SELECT 1 FROM recipient WHERE user = ? AND notification = ?", user, id, as: Bool.self)
      == true
  }

  /// Inserts the events that tell of first fetches.
  private func insertReceipts(of fetches: [PendingFetches.Fetch]) throws {
    let senders: [Int: UserID?] = try dictionary(
      "SELECT notification.id, sender FROM json_each(?) CROSS JOIN notification ON notification.id = value",
      Self.list(Array(Set(fetches.map(\.id)))))
    try insert(
      "INSERT INTO event(type, publisher, user, data, created) VALUES", "('receipt', ?, ?, ?, ?)",
      fetches.filter { senders[$0.id] != nil }
    ) { (senders[$0.id] ?? nil, $0.user, $0.receipt, $0.time) }
  }
}

extension PendingFetches.Fetch {
  /// The data of the event.
  fileprivate var receipt: String {
    var json: [UInt8] = []
    json.reserveCapacity(120)
    json += "{\"notification\":".utf8
    json += String(id).utf8
    json += ",\"user\":null".utf8
    if let device {
      json += ",\"device\":".utf8
      JSONText.append(device, to: &json)
    }
    json += ",\"state\":\"fetched\"}".utf8
    return String(decoding: json, as: UTF8.self)
  }

  fileprivate var withoutDevice: Self { Self(id: id, user: user, device: nil, time: time) }
}

// MARK: - The inbox

extension SQLiteTables {
  func isFetchRecorded(_ id: Int, user: UserID, device: String?) async throws -> Bool? {
    try await database.readTogether { try $0.value(Self.fetchIsRecorded, user, id, device) }
  }

  private static let fetchIsRecorded = isFetchRecorded("?2", user: "?1", device: "?3")

  /// The query whether the fetch of a notification by a user, on a device if it is not null, is recorded; without a
  /// row if the user is no recipient.
  ///
  /// One statement, so that a part of an audience is not written between two.
  static func isFetchRecorded(_ id: String, user: String, device: String) -> String {
    """
    SELECT CASE WHEN fetched IS NULL THEN 0 WHEN \(device) IS NULL THEN 1 ELSE EXISTS (
      SELECT 1 FROM device_receipt AS receipt
      WHERE receipt.notification = \(id) AND receipt.user = \(user) AND receipt.registration = \(device)
        AND receipt.fetched IS NOT NULL) END
    FROM recipient WHERE recipient.user = \(user) AND recipient.notification = \(id)
    UNION ALL \(SQLiteConnection.pendingRecipient(user, of: id)) LIMIT 1
    """
  }

  func soleRecipient(of id: Int) throws -> UserID? {
    let users: [UserID] = try database.column(
      "SELECT user FROM recipient WHERE notification = ? LIMIT 2", id)
    return users.count == 1 ? users[0] : nil
  }

  func notification(
    _ richType: String, payload: String, sentTo user: UserID
  ) throws -> StoredNotification? {
    try database.first(
      """
      SELECT \(StoredNotification.columns)
      FROM recipient JOIN notification ON notification.id = recipient.notification
      WHERE user = ?1 AND rich_type = ?2 AND payload = ?3 AND blob IS NOT NULL
        AND \(StoredNotification.isVisible("?4"))
      ORDER BY recipient.notification DESC LIMIT 1
      """, user, richType, payload, now(), read: StoredNotification.init)
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
