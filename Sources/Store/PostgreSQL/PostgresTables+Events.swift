import FoundationEssentials

extension PostgresTables {
  func pushEvents(
    after positions: [UserID: Int], limit: Int
  ) async throws -> [UserID: [StoredPushEvent]]? {
    let now = now()
    let events = try await database.read { connection in
      try connection.all(
        """
        SELECT event.* FROM unnest($1::bigint[], $2::bigint[]) AS wanted(id, last)
          CROSS JOIN LATERAL (
            SELECT user_id, sequence, push_event.notification, data
            FROM push_event LEFT JOIN notification ON notification.id = push_event.notification
            WHERE user_id = wanted.id AND sequence > wanted.last AND (expires IS NULL OR expires > $3)
          ) AS event
        ORDER BY sequence LIMIT $4
        """, Array(positions.keys), Array(positions.values), now, limit + 1
      ) { row in (user: try row.next(UserID.self), event: try row.decode(StoredPushEvent.init)) }
    }
    if events.count > limit { return nil }
    return Dictionary(grouping: events, by: \.user).mapValues { $0.map(\.event) }
  }
}

extension PostgresTransaction {
  func addPushEvent(_ data: String, to users: [UserID], at now: Date) {
    collected.pushEvents.append(
      CollectedChanges.PushEvent(users: users, notification: nil, data: data, time: now))
  }

  func insert(_ push: PushInsert, at now: Date) {
    insert(push, of: nil, expires: nil, due: now, at: now)
  }

  /// Collects the event that tells of a recipient's new state, on a device or over a lane if it is named.
  func insertReceipt(
    _ state: String, of id: Int, sender: UserID?, user: UserID, device: String? = nil,
    lane: String? = nil, at time: Date
  ) {
    let data =
      if let device {
        NewEvent.receipt(of: id, ["device": device], state: state)
      } else if let lane {
        NewEvent.receipt(of: id, ["lane": lane], state: state)
      } else {
        NewEvent.receipt(of: id, [:], state: state)
      }
    collected.events.append(
      NewEvent(
        type: "receipt", publisher: sender, user: user, notification: id, data: data, time: time))
  }
}
