import FoundationEssentials
import Primitives

extension SQLiteTables {
  func push(
    _ data: String, to users: [UserID], pushes: [PushInsert], fromDeviceOf user: UserID?
  ) async throws {
    let users = Set(users).sorted()
    let now = now()
    try await database.write { connection in
      if let user { try connection.countOwnNotification(of: user, at: now) }
      try connection.run(
        "INSERT INTO push_event(user, data, created) SELECT value, ?, ? FROM json_each(?)", data,
        now, SQLiteConnection.list(users.map(\.rawValue)))
      connection.effects.add(.pushEvents(users))
      for push in pushes {
        let row = try connection.insert(push, notification: nil, expires: nil)
        switch push.target {
        case .audience(let expression, let user):
          try connection.insertJob(of: row, for: expression, user: user, due: now, at: now)
        case .devices(let devices):
          try connection.insertJobs(
            of: row, for: JSONText.array(Array(devices)), due: now, at: now)
        }
      }
    }
  }

  func pushEvents(
    for user: UserID, after: Int, limit: Int
  ) throws -> [StoredPushEvent] {
    try database.all(
      """
      SELECT sequence, notification, data
      FROM push_event LEFT JOIN notification ON notification.id = push_event.notification
      WHERE user = ? AND sequence > ? AND (expires IS NULL OR expires > ?)
      ORDER BY sequence LIMIT ?
      """, user, after, now(), max(0, limit), as: StoredPushEvent.init)
  }

  func pushEvents(
    after positions: [UserID: Int], limit: Int
  ) throws -> [UserID: [StoredPushEvent]]? {
    let list = positions.map { "[\($0.key.rawValue),\($0.value)]" }.joined(separator: ",")
    let events = try database.all(
      """
      SELECT user, sequence, notification, data
      FROM json_each(?) AS wanted CROSS JOIN push_event
        ON user = wanted.value ->> 0 AND sequence > wanted.value ->> 1
        LEFT JOIN notification ON notification.id = push_event.notification
      WHERE expires IS NULL OR expires > ? ORDER BY sequence LIMIT ?
      """, "[\(list)]", now(), limit + 1
    ) { row in (user: try row.next(UserID.self), event: try row.decode(StoredPushEvent.init)) }
    if events.count > limit { return nil }
    return Dictionary(grouping: events, by: \.user).mapValues { $0.map(\.event) }
  }

  func latestPushEvent() throws -> Int {
    try database.value("SELECT seq FROM sqlite_sequence WHERE name = 'push_event'") ?? 0
  }

  func releaseHeldEvents() async throws -> Date? {
    let next = try database.value("SELECT min(due) FROM held_event", as: Date?.self) ?? nil
    let now = now()
    guard let next, next <= now else { return next }
    try await database.write { connection in
      let due = try connection.all(
        "SELECT notification, data FROM held_event WHERE due <= ? ORDER BY due, notification", now
      ) { ($0 as Int, $1 as String) }
      try connection.run("DELETE FROM held_event WHERE due <= ?", now)
      for (id, data) in due { try connection.insertPushEvents(of: id, data: data, at: now) }
    }
    return try await releaseHeldEvents()
  }
}

extension SQLiteConnection {
  /// Cancels what was not sent of a notification.
  func cancelUnsent(_ notification: Int, at now: Date) throws {
    try updateJobs(
      from: .queued, to: .cancelled,
      """
      UPDATE job SET state = 'cancelled', updated = ?
      WHERE state = 'queued' AND push IN (SELECT id FROM push WHERE notification = ?)
      """, now, notification)
    try run("DELETE FROM held_event WHERE notification = ?", notification)
    try run("DELETE FROM audience_part WHERE notification = ?", notification)
  }
}

// MARK: - Events for publishers

extension SQLiteTables {
  func events(
    after: Int, for publisher: UserID?, limit: Int
  ) throws -> [StoredEvent] {
    try database.all(
      """
      SELECT sequence, token, type, CASE WHEN user IS NULL THEN data
        ELSE json_set(data, '$.user', (SELECT name FROM user WHERE id = event.user)) END, created
      FROM event
      WHERE sequence > ?1 AND (?2 IS NULL OR publisher IS NULL OR publisher = ?2)
      ORDER BY sequence LIMIT ?3
      """, after, publisher, max(0, limit), as: StoredEvent.init)
  }

  func createCursor(of reader: String) {
    database.writeSoon { connection in
      try connection.run(
        """
        INSERT OR IGNORE INTO counter(name, next)
        SELECT ?, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'event'), 0)
        """, "events of " + reader)
    }
  }

  func latestEvent() throws -> Int {
    try database.value("SELECT seq FROM sqlite_sequence WHERE name = 'event'") ?? 0
  }

  func cursor(of reader: String) throws -> Int? {
    try database.value("SELECT next FROM counter WHERE name = ?", "events of " + reader)
  }

  func setCursor(_ sequence: Int?, of reader: String) async throws {
    try await database.write { connection in
      try connection.run("DELETE FROM counter WHERE name = ?", "events of " + reader)
      guard let sequence else { return }
      try connection.run(
        "INSERT INTO counter(name, next) VALUES (?, ?)", "events of " + reader, sequence)
    }
  }
}

// MARK: - Receipts

/// A change of a notification's state for a recipient or a device inserts an event for its publisher, in the
/// same transaction.
///
/// The event's `user` is filled in when it is read, so that it never names a user who was removed.
extension SQLiteConnection {
  /// Inserts the event that tells of a recipient's new state, on a device or over a lane if it is named.
  func insertReceipt(
    _ state: String, of id: Int, user: UserID, device: String? = nil, lane: String? = nil,
    at time: Date
  ) throws {
    let source = device.map { ("'device', ?5,", $0) } ?? lane.map { ("'lane', ?5,", $0) }
    try run(
      """
      INSERT INTO event(type, publisher, user, data, created)
      SELECT 'receipt', sender, ?1,
        json_object('notification', id, 'user', NULL, \(source?.0 ?? "") 'state', ?2), ?3
      FROM notification WHERE id = ?4
      """, values: [user, state, time, id] + (source.map { [$0.1] } ?? []))
  }

  /// Inserts the events that tell of the same new state of users, a list for `json_each`, in its order.
  func insertReceipts(
    _ state: String, of id: Int, users: String, lane: String, at time: Date
  ) throws {
    try run(
      """
      INSERT INTO event(type, publisher, user, data, created)
      SELECT 'receipt', sender, user.id,
        json_object('notification', notification.id, 'user', NULL, 'lane', ?, 'state', ?), ?
      FROM json_each(?) CROSS JOIN user ON user.id = value
        CROSS JOIN notification ON notification.id = ?
      """, lane, state, time, users, id)
  }

  /// Inserts the events that tell of the present states of jobs.
  func insertReceipts(ofJobs jobs: [Int]) throws {
    if jobs.isEmpty { return }
    // CROSS JOIN keeps the order of the jobs.
    try run(
      """
      \(Self.jobReceipts)
      FROM json_each(?) AS changed CROSS JOIN job ON job.id = changed.value
        JOIN push ON push.id = job.push JOIN notification ON notification.id = push.notification
      """, Self.list(jobs))
  }

  /// Inserts the events that tell of a push's new jobs.
  func insertReceipts(ofNewJobs jobs: ClosedRange<Int>, of push: Int) throws {
    try run(
      """
      \(Self.jobReceipts)
      FROM push CROSS JOIN notification ON notification.id = push.notification
        CROSS JOIN job ON job.id BETWEEN ? AND ?
      WHERE push.id = ? ORDER BY job.id
      """, jobs.lowerBound, jobs.upperBound, push)
  }

  private static let jobReceipts = """
    INSERT INTO event(type, publisher, user, data, created)
    SELECT 'receipt', sender, job.user, json_object('notification', notification.id, 'user', NULL,
      'device', registration, 'lane', job.lane, 'job', job.id, 'state', state, 'reason', reason), updated
    """

  /// Numbers as JSON, for json_each.
  static func list(_ numbers: [Int]) -> String {
    "[\(numbers.map(String.init).joined(separator: ","))]"
  }
}
