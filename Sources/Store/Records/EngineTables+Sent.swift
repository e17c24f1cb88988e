import FoundationEssentials

extension EngineTables {
  func sent(
    by sender: UserID?, to audience: [String]?, before: Int?, limit: Int
  ) async throws -> [SentNotification] {
    let condition = sender == nil ? "CAST($1 AS bigint) IS NULL" : "sender = $1"
    return try await database.read { connection in
      try connection.all(
        """
        SELECT \(SentNotification.columns)
        WHERE \(condition) AND notification.id < $2 AND (CAST($4 AS text) IS NULL OR audience = $4)
        ORDER BY notification.id DESC LIMIT $3
        """, sender, before ?? .max, max(0, limit), audience.map(StringList.init),
        read: SentNotification.init)
    }
  }

  func counts(of notification: Int) async throws -> NotificationCounts? {
    try await database.read { connection in
      try connection.first(
        """
        SELECT \(NotificationCounts.columns) FROM notification_count AS total
        WHERE notification = $1
        """, notification, read: NotificationCounts.init)
    }
  }

  /// The most events that are combined at once, so that a reader is not held for long.
  private static var batch: Int { 20_000 }

  func changes(after: Int, for publisher: UserID?) async throws -> NotificationChanges {
    try await database.read { connection in
      let own = "(CAST($2 AS bigint) IS NULL OR publisher IS NULL OR publisher = $2)"
      let last =
        try connection.value(
          """
          SELECT max(sequence) FROM (
            SELECT sequence FROM event WHERE sequence > $1 AND \(own) ORDER BY sequence LIMIT $3
          ) AS next
          """, after, publisher, Self.batch, as: Int?.self) ?? nil
      guard let last else { return NotificationChanges(last: nil, counts: [:], others: []) }
      let others = try connection.planningForValues {
        try connection.all(
          """
          SELECT sequence, token, type, data, created FROM event
          WHERE sequence > $1 AND sequence <= $3 AND type NOT IN ('receipt', 'interaction') AND \(own) ORDER BY sequence
          """, after, publisher, last, as: StoredEvent.init)
      }
      let counts = try connection.planningForValues {
        try connection.all(
          """
          SELECT notification, \(NotificationCounts.columns)
          FROM notification_count AS total WHERE notification IN (
            SELECT notification FROM event
            WHERE sequence > $1 AND sequence <= $3 AND type IN ('receipt', 'interaction') AND \(own))
          """, after, publisher, last
        ) { row in (try row.next(Int.self), try NotificationCounts(&row)) }
      }
      return NotificationChanges(
        last: last, counts: Dictionary(uniqueKeysWithValues: counts), others: others)
    }
  }
}

extension SentNotification {
  /// The columns that `init(_:)` reads, and where they are.
  static let columns = """
    \(StoredNotification.columns),
      (SELECT name FROM users WHERE users.id = sender), withdrawn,
      \(NotificationCounts.columns)
    FROM notification LEFT JOIN notification_count AS total
      ON total.notification = notification.id
    """

  init(_ row: inout some Row) throws {
    self.init(
      notification: try StoredNotification(&row), sender: try row.next(),
      withdrawn: try row.next(), counts: try NotificationCounts(&row))
  }
}

extension NotificationCounts {
  /// The columns that `init(_:)` reads, of the table as `total`.
  static let columns = """
    total.recipients, total.reached, total.fetched, total.read, total.queued, total.sent, total.failed,
    total.displayed, total.opened, total.dismissed, first_sent, first_fetched, first_read,
    total.actions, total.replies, first_displayed, first_opened
    """

  init(_ row: inout some Row) throws {
    func number() throws -> Int { try row.next(Int?.self) ?? 0 }
    self.init(
      users: (try number(), try number()), fetched: try number(), read: try number(),
      pushes: (try number(), try number(), try number()),
      reports: (try number(), try number(), try number()),
      first: (sent: try row.next(), fetched: try row.next(), read: try row.next()))
    (actions, replies) = (try number(), try number())
    (firstDisplayed, firstOpened) = (try row.next(), try row.next())
  }
}
