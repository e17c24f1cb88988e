import FoundationEssentials

extension SQLiteTables {
  func sent(
    by sender: UserID?, to audience: [String]?, before: Int?, limit: Int
  ) throws -> [SentNotification] {
    let condition = sender == nil ? "?1 IS NULL" : "sender = ?1"
    return try database.all(
      """
      SELECT \(StoredNotification.columns), (SELECT name FROM user WHERE user.id = sender), withdrawn,
        \(NotificationCounts.columns)
      FROM notification LEFT JOIN notification_count AS total ON total.notification = notification.id
      WHERE \(condition) AND notification.id < ?2 AND (?4 IS NULL OR audience = ?4)
      ORDER BY notification.id DESC LIMIT ?3
      """, sender, before ?? .max, max(0, limit), audience.map(StringList.init)
    ) { row in
      SentNotification(
        notification: try StoredNotification(&row), sender: try row.next(),
        withdrawn: try row.next(), counts: try NotificationCounts(&row))
    }
  }

  func counts(of notification: Int) throws -> NotificationCounts? {
    try database.first(
      "SELECT \(NotificationCounts.columns) FROM notification_count AS total WHERE notification = ?",
      notification, read: NotificationCounts.init)
  }

  /// The most events that are combined at once, so that a reader is not held for long.
  private static let batch = 20_000

  func changes(after: Int, for publisher: UserID?) throws -> NotificationChanges {
    try database.read { connection in
      let own = "(?2 IS NULL OR publisher IS NULL OR publisher = ?2)"
      let last =
        try connection.value(
          """
          SELECT max(sequence) FROM (
            SELECT sequence FROM event WHERE sequence > ?1 AND \(own) ORDER BY sequence LIMIT ?3)
          """, after, publisher, Self.batch, as: Int?.self) ?? nil
      guard let last else { return NotificationChanges(last: nil, counts: [:], others: []) }
      let others = try connection.all(
        """
        SELECT sequence, token, type, data, created FROM event
        WHERE sequence > ?1 AND sequence <= ?3 AND type <> 'receipt' AND \(own) ORDER BY sequence
        """, after, publisher, last, as: StoredEvent.init)
      let counts = try connection.all(
        """
        SELECT notification, \(NotificationCounts.columns)
        FROM notification_count AS total WHERE notification IN (
          SELECT data ->> '$.notification' FROM event
          WHERE sequence > ?1 AND sequence <= ?3 AND type = 'receipt' AND \(own))
        """, after, publisher, last
      ) { row in (try row.next(Int.self), try NotificationCounts(&row)) }
      return NotificationChanges(
        last: last, counts: Dictionary(uniqueKeysWithValues: counts), others: others)
    }
  }
}

extension NotificationCounts {
  /// The columns that `init(_:)` reads, of the table as `total`.
  fileprivate static let columns = """
    total.recipients, total.reached, total.fetched, total.read, total.queued, total.sent, total.failed,
    first_sent, first_fetched, first_read
    """

  fileprivate init(_ row: inout Row) throws {
    func number() throws -> Int { try row.next(Int?.self) ?? 0 }
    self.init(
      users: (try number(), try number()), fetched: try number(), read: try number(),
      pushes: (try number(), try number(), try number()),
      first: (sent: try row.next(), fetched: try row.next(), read: try row.next()))
  }
}

// MARK: - Counting

/// The counts change in the transaction that changes what they count.
extension SQLiteConnection {
  /// Adds to a count of notifications, by their IDs; the column `first` gets the time of the first addition.
  func count(
    _ column: String, of notifications: [Int: (number: Int, time: Date)], first: String
  ) throws {
    _ = try changes(
      """
      UPDATE notification_count SET \(column) = \(column) + ?, \(first) = coalesce(\(first), ?)
      WHERE notification = ?
      """, Array(notifications)
    ) { ($0.value.number, $0.value.time, $0.key) }
  }

  /// Counts jobs in their new state instead of the old one, which is nil for new jobs.
  func count(_ jobs: [Int], from old: JobState?, to new: JobState) throws {
    let (old, new) = (old?.count, new.count)
    let time = new == "sent" ? "first_sent = coalesce(first_sent, jobs.time)" : nil
    let changes =
      [old.map { "\($0) = \($0) - number" }, new.map { "\($0) = \($0) + number" }, time]
      .compactMap(\.self)
    guard !jobs.isEmpty, old != new, !changes.isEmpty else { return }
    // CROSS JOIN keeps the order of the jobs.
    try run(
      """
      UPDATE notification_count SET \(changes.joined(separator: ", ")) FROM (
        SELECT push.notification AS id, count(*) AS number, min(updated) AS time
        FROM json_each(?) AS changed CROSS JOIN job ON job.id = changed.value
          JOIN push ON push.id = job.push
        WHERE push.notification IS NOT NULL GROUP BY push.notification
      ) AS jobs WHERE notification_count.notification = jobs.id
      """, Self.list(jobs))
  }
}

extension JobState {
  /// The column of `notification_count` that counts jobs in this state.
  fileprivate var count: String? {
    switch self {
    case .queued: "queued"
    case .sent: "sent"
    case .failed, .expired: "failed"
    case .cancelled: nil
    }
  }
}
