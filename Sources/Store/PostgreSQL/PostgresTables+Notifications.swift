import FoundationEssentials

extension PostgresTables {
  func create(
    _ new: NotificationInsert
  ) async throws -> (notification: StoredNotification, isNew: Bool) {
    let (now, blobs) = (now(), blobs)
    let recipients = Set(new.recipients).sorted()
    let created: (notification: StoredNotification, isNew: Bool)?
    created = try await database.write(newNotifications: 1) { transaction in
      guard let replaced = try transaction.replaced(by: new) else { return nil }
      try transaction.requireRenewed(new.blob?.digest, in: blobs)
      try transaction.requireSegment(of: new)
      let id = try transaction.newNotificationID()
      if let key = new.idempotencyKey,
        let earlier = try transaction.insert(key, of: new.sender, for: id)
      {
        return (earlier, false)
      }
      if let user = new.device { try transaction.countOwnNotification(of: user, at: now) }
      let new = try transaction.waitingForApproval(
        new, people: new.dueAudience?.people ?? recipients.count, at: now)
      let notification = StoredNotification(new, id: id, created: now)
      transaction.insert(notification, recipients: recipients.count)
      try transaction.takePlace(of: replaced, by: new, id, for: recipients, at: now)
      try transaction.announce(new, to: recipients, as: notification, at: now)
      try transaction.record(new, as: id, at: now)
      try transaction.addDueAudience(new, of: id)
      if notification.awaitsApproval {
        try transaction.tell(of: notification.id, .awaiting, at: now)
      }
      try transaction.auditCreation(
        of: notification, people: new.dueAudience?.people ?? recipients.count)
      return (notification, true)
    }
    if let created { return created }
    try await completeAudiences(replacedBy: new)
    return try await create(new)
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
}
