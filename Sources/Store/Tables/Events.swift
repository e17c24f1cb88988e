package import FoundationEssentials

/// Something that happened, for publishers and the operator's own programs.
package struct StoredEvent: Sendable, Equatable {
  /// Its place in the order of commits: higher than that of every event before it.
  package let sequence: Int
  /// Its name, the same however often it is told, and no other event's.
  package let token: String
  /// What kind of event it is: `receipt`, `asset`.
  package let type: String
  /// What happened, as the text of a JSON object.
  package let data: String
  /// When it happened.
  package let time: Date
}

extension Store {
  /// Commits an event that no table shows; receipts need no call, they come with their change.
  ///
  /// It is for one publisher, or for all.
  package func record(_ type: String, _ data: String, publisher: UserID? = nil) async throws {
    let moment = now()
    try await database.write { connection in
      try connection.run(
        "INSERT INTO event(type, publisher, data, created) VALUES (?, ?, ?, ?)", type, publisher,
        data, moment)
    }
  }

  /// The events after a sequence number, in order, at most `limit`.
  ///
  /// Those of one publisher and those for all, when one is named. A receipt of a user who was removed
  /// has no name.
  package func events(
    after: Int, for publisher: UserID? = nil, limit: Int
  ) throws -> [StoredEvent] {
    try database.read { connection in
      try connection.all(
        """
        SELECT sequence, token, type, CASE WHEN user IS NULL THEN data
          ELSE json_set(data, '$.user', (SELECT name FROM user WHERE id = event.user)) END, created
        FROM event
        WHERE sequence > ?1 AND (?2 IS NULL OR publisher IS NULL OR publisher = ?2)
        ORDER BY sequence LIMIT ?3
        """, after, publisher, max(0, limit)
      ) { row in
        StoredEvent(
          sequence: try row.next(), token: try row.next(), type: try row.next(),
          data: try row.next(), time: try row.next())
      }
    }
  }

  /// Gives a new reader of all events its place behind the latest one; one that has a place keeps it.
  ///
  /// Returns at once: it is written before every change that is asked for later.
  package func beginReading(_ reader: String) {
    database.writeSoon { connection in
      try connection.run(
        """
        INSERT OR IGNORE INTO counter(name, next)
        SELECT ?, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'event'), 0)
        """, "events of " + reader)
    }
  }

  /// The sequence number of the latest event of all, 0 before the first.
  package func latestEvent() throws -> Int {
    try database.read { connection in
      try connection.value("SELECT seq FROM sqlite_sequence WHERE name = 'event'") ?? 0
    }
  }

  /// How far a reader of all events has come, as ``keepPlace(_:of:)`` was told; nil for a new one.
  package func place(of reader: String) throws -> Int? {
    try database.read { connection in
      try connection.value("SELECT next FROM counter WHERE name = ?", "events of " + reader)
    }
  }

  /// Remembers how far a reader of all events has come; nil forgets the reader.
  package func keepPlace(_ sequence: Int?, of reader: String) async throws {
    try await database.write { connection in
      try connection.run("DELETE FROM counter WHERE name = ?", "events of " + reader)
      guard let sequence else { return }
      try connection.run(
        "INSERT INTO counter(name, next) VALUES (?, ?)", "events of " + reader, sequence)
    }
  }

  /// Calls `body` after every commit of this process; it only hurries.
  package func observeCommits(_ body: @escaping @Sendable () -> Void) {
    database.observeCommits(body)
  }
}
