import FoundationEssentials

extension SQLiteTables {
  func create(
    _ new: NotificationInsert
  ) async throws -> (notification: StoredNotification, isNew: Bool) {
    let (now, blobs) = (now(), blobs)
    // Mostly they are in order already, and may be a million.
    let isOrdered = zip(new.recipients, new.recipients.dropFirst()).allSatisfy { $0 < $1 }
    let recipients = isOrdered ? new.recipients : Set(new.recipients).sorted()
    let audience = AudienceParts(recipients, of: new)
    let created: (notification: StoredNotification, isNew: Bool)? = try await database.write {
      connection in
      if let key = new.idempotencyKey,
        let earlier = try connection.notification(for: key, sender: new.sender)
      {
        return (earlier, false)
      }
      try connection.requireSpace()
      guard let replaced = try connection.replaced(by: new) else { return nil }
      try connection.requireRenewed(new.blob?.digest, in: blobs)
      try connection.requireSegment(of: new)
      if let user = new.device { try connection.countOwnNotification(of: user, at: now) }
      let new = try connection.waitingForApproval(
        new, people: new.dueAudience?.people ?? recipients.count, at: now)
      let notification = try connection.insert(new, created: now)
      try connection.run(
        "INSERT INTO notification_count(notification, recipients) VALUES ($1, $2)", notification.id,
        recipients.count)
      try connection.takePlace(of: replaced, by: new, notification.id, for: recipients, at: now)
      try connection.announce(new, to: audience, as: notification.id, at: now)
      try connection.record(new, as: notification.id, at: now)
      try connection.addDueAudience(new, of: notification.id)
      if notification.awaitsApproval {
        try connection.tell(of: notification.id, .awaiting, at: now)
      }
      try connection.auditCreation(
        of: notification, people: new.dueAudience?.people ?? recipients.count)
      return (notification, true)
    }
    if let created { return created }
    try await completeAudiences(replacedBy: new)
    return try await create(new)
  }
}

extension SQLiteConnection {
  fileprivate func insert(
    _ new: NotificationInsert, created: Date
  ) throws -> StoredNotification {
    // A counter, not max(id) + 1: an id is never reused, also when the latest notification was collected.
    let id: Int? = try value(
      "UPDATE counter SET next = next + 1 WHERE name = 'notification' RETURNING next - 1")
    guard let id, id <= Int32.max else {
      throw StoreError(.failed, "no ids are left for notifications (32 bits)")
    }
    let notification = StoredNotification(new, id: id, created: created)
    try run(
      Self.notificationInsertion, values: StoredNotification.written.map { $0.value(notification) })
    if let key = new.idempotencyKey {
      try run(
        "INSERT INTO idempotency VALUES ($1, $2, $3, $4)", new.sender?.rawValue ?? 0, key.key,
        key.request, id)
    }
    return notification
  }

  private static let notificationInsertion: String = {
    let columns = StoredNotification.written
    let names = columns.map(\.name).joined(separator: ", ")
    let values = columns.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
    return "INSERT INTO notification(\(names)) VALUES (\(values))"
  }()
}
