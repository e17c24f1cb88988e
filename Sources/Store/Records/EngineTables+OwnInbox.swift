import FoundationEssentials

// What users change in their own inboxes, beside the receipts.

extension EngineTables {
  /// Notifications that are marked read in one commit, so that other changes are not delayed for long.
  private static var batch: Int { 500 }

  func markRead(upTo last: Int, user: UserID, device: String?) async throws {
    let now = now()
    var done: Int? = -1
    while let after = done {
      done = try await database.write { transaction in
        if after < 0 { try transaction.addPendingRecipient(user, upTo: last, at: now) }
        let unread: [Int] = try transaction.column(
          """
          SELECT recipient.notification
          FROM recipient JOIN notification ON notification.id = recipient.notification
          WHERE user_id = $1 AND recipient.notification > $2 AND recipient.notification <= $3
            AND read IS NULL AND \(StoredNotification.isListed("$4"))
          ORDER BY recipient.notification LIMIT $5
          """, user, after, last, now, Self.batch)
        if unread.isEmpty { return nil }
        try transaction.record(
          .read,
          unread.map { NewReceipt(state: .read, id: $0, user: user, device: device, time: now) })
        transaction.effects.add(.read(user))
        return unread.count == Self.batch ? unread.last : nil
      }
    }
  }

  func setHidden(_ isHidden: Bool, _ id: Int, user: UserID) async throws -> Bool {
    let now = now()
    return try await database.write { transaction in
      guard try transaction.isRecipient(user, of: id, at: now) else { return false }
      try transaction.run(
        "UPDATE recipient SET hidden = $1 WHERE user_id = $2 AND notification = $3",
        isHidden ? now : nil, user, id)
      return true
    }
  }
}

extension Changing {
  /// Makes a user of stored parts of audiences a recipient before their turn.
  fileprivate func addPendingRecipient(_ user: UserID, upTo last: Int, at now: Date) throws {
    let pending: [Int] = try column(
      """
      SELECT DISTINCT notification FROM audience_part
      WHERE push IS NULL AND first <= $1 AND last >= $1 AND notification <= $2
      """, user, last)
    for id in pending { try addPendingRecipient(user, of: id, at: now) }
  }
}
