import FoundationEssentials

extension Store {
  /// Creates a notification with its receipts, push events and jobs, all of them or nothing.
  ///
  /// The same idempotency key with the same request gives the notification that was created then,
  /// and `isNew` is false; with another request it throws `conflict`. A blob that is not stored
  /// throws `missing`.
  package func create(
    _ new: NewNotification
  ) async throws -> (notification: RichNotification, isNew: Bool) {
    let created = now()
    let blobs = blobs
    let recipients = Array(Set(new.recipients)).sorted()
    let (notification, isNew) = try await database.write { connection in
      if let earlier = try connection.notification(withKeyOf: new) { return (earlier, false) }
      if let blob = new.blob, !blobs.renew(blob.digest) {
        throw StoreError(.missing, "the content of the notification is gone; try again")
      }
      let notification = try connection.insert(new, created: created)
      for user in recipients {
        try connection.run(
          "INSERT INTO recipient(user, notification) VALUES (?, ?)", user, notification.id)
      }
      try connection.announce(new, as: notification.id, to: recipients, at: created)
      return (notification, true)
    }
    if isNew { tellObservers(of: new, to: recipients) }
    return (notification, isNew)
  }

  /// Withdraws a notification: it expires now, and what has not been sent of it never is.
  ///
  /// False when there is no such notification.
  package func withdraw(_ id: Int) async throws -> Bool {
    let moment = now()
    let isWithdrawn = try await database.write { connection in
      try connection.callOff(id, at: moment)
      return try connection.run(
        "UPDATE notification SET expires = ?1 WHERE id = ?2 AND (expires IS NULL OR expires > ?1)",
        moment, id) == 1
    }
    if isWithdrawn { changeObserver.tell(id) }
    return isWithdrawn
  }

  /// The notification with this id, or nil when there is none or it has expired.
  package func notification(_ id: Int) throws -> RichNotification? {
    try database.read { connection in
      try connection.first(
        """
        SELECT \(RichNotification.columns) FROM notification
        WHERE id = ? AND (expires IS NULL OR expires > ?)
        """, id, now(), read: RichNotification.init)
    }
  }

  /// The notification an idempotency key of this sender stands for, or nil.
  ///
  /// Throws `conflict` when the key came with another request.
  package func notification(
    for key: IdempotencyKey, sender: UserID?
  ) throws -> RichNotification? {
    try database.read { try $0.notification(for: key, sender: sender) }
  }
}

extension Connection {
  fileprivate func notification(withKeyOf new: NewNotification) throws -> RichNotification? {
    try new.idempotencyKey.flatMap { try notification(for: $0, sender: new.sender) }
  }

  fileprivate func notification(
    for key: IdempotencyKey, sender: UserID?
  ) throws -> RichNotification? {
    let known = try first(
      "SELECT notification, request FROM idempotency WHERE sender = ? AND key = ?",
      sender?.rawValue ?? 0, key.key
    ) { row in (notification: try row.next(Int.self), request: try row.next(Digest.self)) }
    guard let known else { return nil }
    guard known.request == key.request else {
      throw StoreError(
        .conflict, "the idempotency key “\(key.key)” came with a different request before")
    }
    return try first(
      "SELECT \(RichNotification.columns) FROM notification WHERE id = ?", known.notification,
      read: RichNotification.init)
  }

  fileprivate func insert(
    _ new: NewNotification, created: Date
  ) throws -> RichNotification {
    let id: Int? = try value(
      "UPDATE counter SET next = next + 1 WHERE name = 'notification' RETURNING next - 1")
    guard let id, id <= Int32.max else {
      throw StoreError(.failed, "there are no numbers left for notifications")
    }
    let notification = try first(
      """
      INSERT INTO notification(
        id, message, rich_type, payload, sender, details, blob, blob_size, blob_type,
        created, not_before, expires, form, audience)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING \(RichNotification.columns)
      """, id, new.message, new.richType, new.payload, new.sender, new.details, new.blob?.digest,
      new.blob?.size, new.blobType, created, new.notBefore, new.expires, new.form,
      StringList(new.to),
      read: RichNotification.init)
    guard let notification else { throw StoreError(.failed, "the notification was not stored") }
    if let key = new.idempotencyKey {
      try run(
        "INSERT INTO idempotency VALUES (?, ?, ?, ?)", new.sender?.rawValue ?? 0, key.key,
        key.request, id)
    }
    return notification
  }
}
