import FoundationEssentials

extension SQLiteTables {
  func create(
    _ new: NotificationInsert
  ) async throws -> (notification: StoredNotification, isNew: Bool) {
    let (now, blobs) = (now(), blobs)
    // Mostly they are in order already, and may be a million.
    let isOrdered = zip(new.recipients, new.recipients.dropFirst()).allSatisfy { $0 < $1 }
    let recipients = isOrdered ? new.recipients : Set(new.recipients).sorted()
    let audience = AudienceParts(recipients, new.pushes)
    return try await database.write { connection in
      if let key = new.idempotencyKey,
        let earlier = try connection.notification(for: key, sender: new.sender)
      {
        return (earlier, false)
      }
      try connection.requireRenewed(new.blob?.digest, in: blobs)
      if let user = new.device { try connection.countOwnNotification(of: user, at: now) }
      let notification = try connection.insert(new, created: now)
      try connection.run(
        "INSERT INTO notification_count(notification, recipients) VALUES (?, ?)", notification.id,
        recipients.count)
      try connection.announce(new, to: audience, as: notification.id, at: now)
      try connection.record(new, as: notification.id, at: now)
      return (notification, true)
    }
  }

  func amend(
    _ id: Int, with new: NotificationInsert, replacing content: Digest?
  ) async throws -> StoredNotification? {
    let (now, blobs) = (now(), blobs)
    return try await database.write { connection in
      try connection.requireRenewed(new.blob?.digest, in: blobs)
      if let stored = try connection.notification(id, at: now), stored.isSame(as: new) {
        return stored
      }
      if let user = new.device { try connection.countOwnNotification(of: user, at: now) }
      guard let notification = try connection.update(id, with: new, replacing: content, at: now)
      else { return nil }
      try connection.record(new, as: id, at: now)
      try connection.cancelUnsent(id, at: now)
      let recipients: [UserID] = try connection.column(
        "SELECT user.id FROM recipient JOIN user ON user.id = user WHERE notification = ? ORDER BY 1",
        id)
      try connection.announce(new, to: AudienceParts(recipients, new.pushes), as: id, at: now)
      connection.effects.add(.change(id))
      return notification
    }
  }

  func withdraw(_ id: Int) async throws -> Bool {
    let now = now()
    return try await database.write { connection in
      try connection.cancelUnsent(id, at: now)
      let isWithdrawn =
        try connection.run(
          """
          UPDATE notification SET expires = ?1, withdrawn = ?1
          WHERE id = ?2 AND (expires IS NULL OR expires > ?1)
          """, now, id) == 1
      if isWithdrawn { connection.effects.add(.change(id)) }
      return isWithdrawn
    }
  }

  func notification(_ id: Int) throws -> StoredNotification? {
    try database.read { try $0.notification(id, at: now()) }
  }

  func notification(
    for key: IdempotencyKey, sender: UserID?
  ) throws -> StoredNotification? {
    try database.read { try $0.notification(for: key, sender: sender) }
  }
}

extension SQLiteConnection {
  fileprivate func notification(_ id: Int, at now: Date) throws -> StoredNotification? {
    try first(
      """
      SELECT \(StoredNotification.columns) FROM notification
      WHERE id = ? AND (expires IS NULL OR expires > ?)
      """, id, now, read: StoredNotification.init)
  }

  fileprivate func notification(
    for key: IdempotencyKey, sender: UserID?
  ) throws -> StoredNotification? {
    let known = try first(
      "SELECT notification, request FROM idempotency WHERE sender = ? AND key = ?",
      sender?.rawValue ?? 0, key.key
    ) { row in (notification: try row.next(Int.self), request: try row.next(Digest.self)) }
    guard let known else { return nil }
    guard known.request == key.request else {
      throw StoreError(
        .conflict, "the idempotency key “\(key.key)” was already used for a different request")
    }
    return try first(
      "SELECT \(StoredNotification.columns) FROM notification WHERE id = ?", known.notification,
      read: StoredNotification.init)
  }

  fileprivate func insert(
    _ new: NotificationInsert, created: Date
  ) throws -> StoredNotification {
    // A counter, not max(id) + 1: an id is never reused, also when the latest notification was collected.
    let id: Int? = try value(
      "UPDATE counter SET next = next + 1 WHERE name = 'notification' RETURNING next - 1")
    guard let id, id <= Int32.max else {
      throw StoreError(.failed, "no ids are left for notifications (32 bits)")
    }
    let notification = try first(
      """
      INSERT INTO notification(
        id, message, rich_type, payload, sender, details, blob, blob_size, blob_type,
        created, not_before, expires, form, audience)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING \(StoredNotification.columns)
      """, id, new.message, new.richType, new.payload, new.sender, new.details, new.blob?.digest,
      new.blob?.size, new.blobType, created, new.notBefore, new.expires, new.form,
      StringList(new.to), read: StoredNotification.init)
    guard let notification else { throw StoreError(.failed, "the notification was not stored") }
    if let key = new.idempotencyKey {
      try run(
        "INSERT INTO idempotency VALUES (?, ?, ?, ?)", new.sender?.rawValue ?? 0, key.key,
        key.request, id)
    }
    return notification
  }

  /// Nil if the notification has expired, or has other content than `content`; without that, also if a recipient has
  /// fetched it.
  fileprivate func update(
    _ id: Int, with new: NotificationInsert, replacing content: Digest?, at now: Date
  ) throws -> StoredNotification? {
    try first(
      """
      UPDATE notification SET message = ?, rich_type = ?, payload = ?, details = ?, blob = ?,
        blob_size = ?, blob_type = ?, held = CASE WHEN not_before = ?8 THEN held END, not_before = ?8,
        expires = ?, form = ?, replaced = CASE WHEN \(Self.isFetched) THEN ?12 ELSE replaced END
      WHERE id = ?11 AND (expires IS NULL OR expires > ?12)
        AND (blob = ?13 OR ?13 IS NULL AND NOT \(Self.isFetched))
      RETURNING \(StoredNotification.columns)
      """, new.message, new.richType, new.payload, new.details, new.blob?.digest, new.blob?.size,
      new.blobType, new.notBefore, new.expires, new.form, id, now, content,
      read: StoredNotification.init)
  }

  private static let isFetched = """
    EXISTS (SELECT 1 FROM recipient WHERE recipient.notification = id AND fetched IS NOT NULL)
    """
}

extension StoredNotification {
  /// The columns that `init(_:)` reads, in its order.
  static let columns = """
    notification.id, message, rich_type, payload, sender, details, blob, blob_size, blob_type,
    created, not_before, held, expires, form, audience
    """

  init(_ row: inout Row) throws {
    (id, message, richType) = (try row.next(), try row.next(), try row.next())
    (payload, sender, details) = (try row.next(), try row.next(), try row.next())
    let (digest, size): (Digest?, Int?) = (try row.next(), try row.next())
    blob = digest.map { Blob(digest: $0, size: size ?? 0) }
    (blobType, created, notBefore) = (try row.next(), try row.next(), try row.next())
    (held, expires) = (try row.next(), try row.next())
    (form, audience) = (try row.next(), try row.next())
  }
}
