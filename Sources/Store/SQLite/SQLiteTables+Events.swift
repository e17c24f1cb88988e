import FoundationEssentials
import Primitives

extension SQLiteTables {
  func pushEvents(
    after positions: [UserID: Int], limit: Int
  ) throws -> [UserID: [StoredPushEvent]]? {
    let now = now()
    let list = positions.map { "[\($0.key.rawValue),\($0.value)]" }.joined(separator: ",")
    let events = try database.read { connection in
      try connection.all(
        """
        SELECT user_id, sequence, push_event.notification, data
        FROM json_each($1) AS wanted CROSS JOIN push_event
          ON user_id = wanted.value ->> 0 AND sequence > wanted.value ->> 1
          LEFT JOIN notification ON notification.id = push_event.notification
        WHERE expires IS NULL OR expires > $2 ORDER BY sequence LIMIT $3
        """, "[\(list)]", now, limit + 1
      ) { row in (user: try row.next(UserID.self), event: try row.decode(StoredPushEvent.init)) }
    }
    if events.count > limit { return nil }
    return Dictionary(grouping: events, by: \.user).mapValues { $0.map(\.event) }
  }
}

// MARK: - Receipts

/// A change of a notification's state for a recipient or a device inserts an event for its publisher, in the
/// same transaction.
///
/// The event's `user` is null until it is read, as in ``NewEvent``.
extension SQLiteConnection {
  func addPushEvent(_ data: String, to users: [UserID], at now: Date) throws {
    try run(
      "INSERT INTO push_event(user_id, data, created) SELECT value, $1, $2 FROM json_each($3)",
      data, now, users)
    effects.add(.pushEvents(users))
  }

  func insert(_ push: PushInsert, at now: Date) throws {
    let row = try insert(push, notification: nil, expires: nil)
    effects.add(.jobs(lane: push.lane))
    switch push.target {
    case .audience(let expression, let user):
      try insertJob(of: row, for: expression, user: user, due: now, at: now)
    case .devices(let devices):
      try insertJobs(of: row, for: Array(devices), due: now, at: now)
    }
  }

  func add(_ event: NewEvent) throws {
    try run(
      """
      INSERT INTO event(type, publisher, user_id, notification, data, created, interaction)
      VALUES ($1, $2, $3, $4, $5, $6, $7)
      """, event.type, event.publisher, event.user, event.notification, event.data, event.time,
      event.interaction)
  }

  func add(_ event: AuditEvent) throws {
    try run(
      """
      INSERT INTO audit(\(AuditEvent.columns))
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
      """, values: event.values)
  }

  /// Inserts the events that tell of the same new state of users, a list, in its order.
  func insertReceipts(
    _ state: String, of id: Int, users: any Parameter, lane: String, at time: Date
  ) throws {
    try run(
      """
      INSERT INTO event(type, publisher, user_id, notification, data, created)
      SELECT 'receipt', sender, users.id, notification.id,
        json_object('notification', notification.id, 'user', NULL, 'lane', $1, 'state', $2), $3
      FROM json_each($4) CROSS JOIN users ON users.id = value
        CROSS JOIN notification ON notification.id = $5
      """, lane, state, time, users, id)
  }

  /// Inserts the events that tell of the present states of jobs.
  func insertReceipts(ofJobs jobs: [Int]) throws {
    if jobs.isEmpty { return }
    // CROSS JOIN keeps the order of the jobs.
    try run(
      """
      \(Self.jobReceipts)
      FROM json_each($1) AS changed CROSS JOIN job ON job.id = changed.value
        JOIN push ON push.id = job.push JOIN notification ON notification.id = push.notification
      """, jobs)
  }

  /// Inserts the events that tell of a push's new jobs.
  func insertReceipts(ofNewJobs jobs: ClosedRange<Int>, of push: Int) throws {
    try run(
      """
      \(Self.jobReceipts)
      FROM push CROSS JOIN notification ON notification.id = push.notification
        CROSS JOIN job ON job.id BETWEEN $1 AND $2
      WHERE push.id = $3 ORDER BY job.id
      """, jobs.lowerBound, jobs.upperBound, push)
  }

  private static let jobReceipts = """
    INSERT INTO event(type, publisher, user_id, notification, data, created)
    SELECT 'receipt', sender, job.user_id, notification.id, json_object('notification', notification.id, 'user', NULL,
      'device', registration, 'lane', job.lane, 'job', job.id, 'state', state, 'reason', reason), updated
    """
}
