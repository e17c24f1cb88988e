import FoundationEssentials

extension PostgresTransaction {
  /// Writes the times of receipts' first states, for users and for devices that are registrations of the
  /// recipients; counts the first ones of users.
  func record(_ state: RecordedState, _ receipts: [NewReceipt]) throws {
    let column = state.rawValue
    var ofDevices: Set<[Int]> = []
    let devices = receipts.filter { $0.device != nil }
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
      """, receipts.map(\.id), receipts.map(\.user), receipts.map(\.time)
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
