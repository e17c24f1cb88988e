package import FoundationEssentials
import Primitives

/// An event for publishers and the operator's programs.
package struct StoredEvent: Sendable, Equatable {
  /// Rises with every commit.
  package let sequence: Int
  /// A unique name, the same at every delivery.
  package let token: String
  /// The kind of event: `receipt` or `asset`.
  package let type: String
  /// What happened, as the text of a JSON object.
  package let data: String
  /// When it happened.
  package let time: Date
}

extension Store {
  /// The events after a sequence number, in order, at most `limit`.
  ///
  /// With a publisher, those for it and those for all. In a receipt of a removed user, `user` is null.
  package func events(
    after: Int, for publisher: UserID? = nil, limit: Int
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

  /// Adds a cursor for a reader of all events, after the latest event; an existing one is kept.
  ///
  /// Does not wait for the commit, which precedes those of all later changes.
  package func createCursor(of reader: String) {
    database.writeSoon { connection in
      try connection.run(
        """
        INSERT OR IGNORE INTO counter(name, next)
        SELECT ?, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'event'), 0)
        """, "events of " + reader)
    }
  }

  /// The sequence number of the latest event, 0 before the first.
  package func latestEvent() throws -> Int {
    try database.value("SELECT seq FROM sqlite_sequence WHERE name = 'event'") ?? 0
  }

  /// The sequence number that ``setCursor(_:of:)`` stored for a reader; nil for a new one.
  package func cursor(of reader: String) throws -> Int? {
    try database.value("SELECT next FROM counter WHERE name = ?", "events of " + reader)
  }

  /// Stores the sequence number of the last event a reader has processed; nil removes the cursor.
  package func setCursor(_ sequence: Int?, of reader: String) async throws {
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
    try run(
      """
      INSERT INTO event(type, publisher, user, data, created)
      SELECT 'receipt', sender, ?, ?, ? FROM notification WHERE id = ?
      """, user, Self.receipt(state, of: id, device: device, lane: lane), time, id)
  }

  /// Inserts the events that tell of the same new state of all recipients.
  func insertReceipts(_ state: String, ofAll id: Int, lane: String, at time: Date) throws {
    try run(
      """
      INSERT INTO event(type, publisher, user, data, created)
      SELECT 'receipt', sender, user.id, ?, ?
      FROM recipient JOIN user ON user.id = recipient.user
        JOIN notification ON notification.id = recipient.notification
      WHERE notification.id = ? ORDER BY user.id
      """, Self.receipt(state, of: id, lane: lane), time, id)
  }

  /// Inserts the events that tell of the present states of jobs.
  func insertReceipts(ofJobs jobs: [Int]) throws {
    if jobs.isEmpty { return }
    // CROSS JOIN keeps the order of the jobs.
    try run(
      """
      INSERT INTO event(type, publisher, user, data, created)
      SELECT 'receipt', sender, job.user, json_object('notification', notification.id, 'user', NULL,
        'device', registration, 'lane', job.lane, 'job', job.id, 'state', state, 'reason', reason),
        updated
      FROM json_each(?) AS changed CROSS JOIN job ON job.id = changed.value
        JOIN push ON push.id = job.push JOIN notification ON notification.id = push.notification
      """, Self.list(jobs))
  }

  /// Numbers as JSON, for json_each.
  static func list(_ numbers: [Int]) -> String {
    "[\(numbers.map(String.init).joined(separator: ","))]"
  }

  private static func receipt(
    _ state: String, of id: Int, device: String? = nil, lane: String? = nil
  ) -> String {
    let facts = [("device", device), ("lane", lane), ("state", state)].compactMap { name, value in
      value.map { "\(JSONText.quoted(name)):\(JSONText.quoted($0))" }
    }
    return "{\"notification\":\(id),\"user\":null,\(facts.joined(separator: ","))}"
  }
}
