import FoundationEssentials

extension PostgresTables {
  func create(
    _ new: NotificationInsert
  ) async throws -> (notification: StoredNotification, isNew: Bool) {
    let (now, blobs) = (now(), blobs)
    let recipients = Set(new.recipients).sorted()
    return try await database.write(newNotifications: 1) { transaction in
      try transaction.requireRenewed(new.blob?.digest, in: blobs)
      let id = try transaction.newNotificationID()
      if let key = new.idempotencyKey,
        let earlier = try transaction.insert(key, of: new.sender, for: id)
      {
        return (earlier, false)
      }
      if let user = new.device { try transaction.countOwnNotification(of: user, at: now) }
      let notification = StoredNotification(new, id: id, created: now)
      transaction.insert(notification, recipients: recipients.count)
      try transaction.announce(new, to: recipients, as: notification, at: now)
      try transaction.record(new, as: id, at: now)
      return (notification, true)
    }
  }

  func amend(
    _ id: Int, with new: NotificationInsert, replacing content: Digest?
  ) async throws -> StoredNotification? {
    let (now, blobs) = (now(), blobs)
    return try await database.write { transaction in
      try transaction.requireRenewed(new.blob?.digest, in: blobs)
      if let stored = try transaction.notification(id, at: now), stored.isSame(as: new) {
        return stored
      }
      if let user = new.device { try transaction.countOwnNotification(of: user, at: now) }
      guard let notification = try transaction.update(id, with: new, replacing: content, at: now)
      else { return nil }
      try transaction.record(new, as: id, at: now)
      try transaction.cancelUnsent(id, at: now)
      try transaction.announce(
        new, to: transaction.recipients(of: id), as: notification, at: now)
      transaction.effects.add(.change(id))
      return notification
    }
  }

  func withdraw(_ id: Int) async throws -> Bool {
    let now = now()
    return try await database.write { transaction in
      try transaction.cancelUnsent(id, at: now)
      let isWithdrawn =
        try transaction.run(
          """
          UPDATE notification SET expires = $1, withdrawn = $1
          WHERE id = $2 AND (expires IS NULL OR expires > $1)
          """, now, id) == 1
      if isWithdrawn { transaction.effects.add(.change(id)) }
      return isWithdrawn
    }
  }

  func notification(_ id: Int) async throws -> StoredNotification? {
    let now = now()
    return try await database.read { try $0.notification(id, at: now) }
  }

  func notification(
    for key: IdempotencyKey, sender: UserID?
  ) async throws -> StoredNotification? {
    try await database.read { try $0.notification(for: key, sender: sender) }
  }
}

extension PostgresQueryable {
  fileprivate func notification(_ id: Int, at now: Date) throws -> StoredNotification? {
    try first(
      """
      SELECT \(StoredNotification.postgresColumns) FROM notification
      WHERE id = $1 AND (expires IS NULL OR expires > $2)
      """, id, now, read: StoredNotification.init(postgres:))
  }

  fileprivate func notification(
    for key: IdempotencyKey, sender: UserID?
  ) throws -> StoredNotification? {
    let known = try first(
      "SELECT notification, request FROM idempotency WHERE sender = $1 AND key = $2",
      sender?.rawValue ?? 0, key.key
    ) { row in (notification: try row.next(Int.self), request: try row.next(Digest.self)) }
    guard let known else { return nil }
    guard known.request == key.request else {
      throw StoreError(
        .conflict, "the idempotency key “\(key.key)” was already used for a different request")
    }
    return try first(
      "SELECT \(StoredNotification.postgresColumns) FROM notification WHERE id = $1",
      known.notification, read: StoredNotification.init(postgres:))
  }
}

extension PostgresTransaction {
  /// Inserts an idempotency key; returns the notification that was created with it before.
  fileprivate func insert(
    _ key: IdempotencyKey, of sender: UserID?, for id: Int
  ) throws -> StoredNotification? {
    let inserted = try executeBeforeRows(
      "INSERT INTO idempotency VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
      [sender?.rawValue ?? 0, key.key, key.request, id]
    ).changedRows
    return inserted == 1 ? nil : try notification(for: key, sender: sender)
  }

  fileprivate func insert(_ new: StoredNotification, recipients: Int) {
    writes += 1
    rows.notifications.append(new)
    collected.created.append((new.id, recipients))
  }

  /// Nil if the notification has expired, or has other content than `content`; without that, also if a recipient has
  /// fetched it.
  fileprivate func update(
    _ id: Int, with new: NotificationInsert, replacing content: Digest?, at now: Date
  ) throws -> StoredNotification? {
    try first(
      """
      UPDATE notification SET message = $1, rich_type = $2, payload = $3, details = $4, blob = $5,
        blob_size = $6, blob_type = $7,
        held = CASE WHEN not_before = $8 THEN held END, not_before = $8, expires = $9, form = $10,
        replaced = CASE WHEN \(Self.isFetched) THEN $12 ELSE replaced END
      WHERE id = $11 AND (expires IS NULL OR expires > $12)
        AND (blob = $13 OR $13::text IS NULL AND NOT \(Self.isFetched))
      RETURNING \(StoredNotification.postgresColumns)
      """, new.message, new.richType, new.payload, new.details, new.blob?.digest, new.blob?.size,
      new.blobType, new.notBefore, new.expires, new.form, id, now, content,
      read: StoredNotification.init(postgres:))
  }

  private static let isFetched = """
    EXISTS (SELECT 1 FROM recipient WHERE recipient.notification = id AND fetched IS NOT NULL)
    """

  /// Cancels what was not sent of a notification.
  fileprivate func cancelUnsent(_ notification: Int, at now: Date) throws {
    try sendJobs(
      from: .queued, to: .cancelled,
      """
      UPDATE job SET state = 'cancelled', updated = $1
      WHERE state = 'queued' AND push IN (SELECT id FROM push WHERE notification = $2)
      """, now, notification)
    try send("DELETE FROM held_event WHERE notification = $1", notification)
    try send("DELETE FROM audience_part WHERE notification = $1", notification)
  }
}

extension StoredNotification {
  /// The columns that `init(postgres:)` reads, in its order.
  static let postgresColumns = """
    notification.id, message, rich_type, payload, sender, details, blob, blob_size, blob_type,
    notification.created, not_before, held, expires, form, audience
    """

  /// What a new row has.
  fileprivate init(_ new: NotificationInsert, id: Int, created: Date) {
    (self.id, message, richType, payload) = (id, new.message, new.richType, new.payload)
    (sender, details, blob, blobType) = (new.sender, new.details, new.blob, new.blobType)
    (self.created, notBefore, held) = (created.stored, new.notBefore?.stored, nil)
    (expires, form, audience) = (new.expires?.stored, new.form, StringList(new.to))
  }

  init(postgres row: inout PostgresRow) throws {
    (id, message, richType) = (try row.next(), try row.next(), try row.next())
    (payload, sender, details) = (try row.next(), try row.next(), try row.next())
    let (digest, size): (Digest?, Int?) = (try row.next(), try row.next())
    blob = digest.map { Blob(digest: $0, size: size ?? 0) }
    (blobType, created, notBefore) = (try row.next(), try row.next(), try row.next())
    (held, expires) = (try row.next(), try row.next())
    (form, audience) = (try row.next(), try row.next())
  }
}
