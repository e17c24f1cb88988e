import FoundationEssentials
import Primitives

extension EngineTables {
  func push(
    _ data: String, to users: [UserID], pushes: [PushInsert], fromDeviceOf user: UserID?
  ) async throws {
    let users = Set(users).sorted()
    let now = now()
    try await database.write { transaction in
      if let user { try transaction.countOwnNotification(of: user, at: now) }
      try transaction.addPushEvent(data, to: users, at: now)
      for push in pushes { try transaction.insert(push, at: now) }
    }
  }

  func pushEvents(
    for user: UserID, after: Int, limit: Int
  ) async throws -> [StoredPushEvent] {
    let now = now()
    return try await database.read { connection in
      try connection.all(
        """
        SELECT sequence, push_event.notification, data
        FROM push_event LEFT JOIN notification ON notification.id = push_event.notification
        WHERE user_id = $1 AND sequence > $2 AND (expires IS NULL OR expires > $3)
        ORDER BY sequence LIMIT $4
        """, user, after, now, max(0, limit), as: StoredPushEvent.init)
    }
  }

  func time(ofPushEvent sequence: Int) async throws -> Date? {
    try await database.read { connection in
      try connection.value(
        "SELECT created FROM push_event WHERE sequence <= $1 ORDER BY sequence DESC LIMIT 1",
        sequence)
    }
  }

  func latestPushEvent() async throws -> Int {
    try await database.read { try $0.value($0.latestPushEvent) ?? 0 }
  }

  func releaseHeldEvents() async throws -> Date? {
    let next = try await database.read { connection in
      try connection.value("SELECT min(due) FROM held_event", as: Date?.self) ?? nil
    }
    let now = now()
    guard let next, next <= now else { return next }
    let count = try await database.write { transaction in
      try transaction.requireSpace()
      // Another node that does the same finds none of these.
      let due = try transaction.all(
        """
        DELETE FROM held_event WHERE (notification, due) IN (
          SELECT notification, due FROM held_event WHERE due <= $1
          \(transaction.lock("FOR UPDATE SKIP LOCKED")))
        RETURNING notification, data, due
        """, now
      ) { (id: $0 as Int, data: $1 as String, time: $2 as Date) }
      .sorted { ($0.time, $0.id) < ($1.time, $1.id) }
      for (id, data, time) in due {
        try transaction.insertPushEvents(of: id, due: time, data: data, at: now)
      }
      return due.count
    }
    return count == 0 ? now + 1 : try await releaseHeldEvents()
  }
}

// MARK: - Events for publishers

extension EngineTables {
  func events(
    after: Int, for publisher: UserID?, limit: Int
  ) async throws -> [StoredEvent] {
    try await database.read { connection in
      try connection.all(
        """
        SELECT sequence, token, type, data, users.name, event.created
        FROM event LEFT JOIN users ON users.id = event.user_id
        WHERE sequence > $1 AND (CAST($2 AS bigint) IS NULL OR publisher IS NULL OR publisher = $2)
        ORDER BY sequence LIMIT $3
        """, after, publisher, max(0, limit)
      ) { row in
        let (sequence, token, type): (Int, String, String) = (
          try row.next(), try row.next(), try row.next()
        )
        let (data, name): (String, String?) = (try row.next(), try row.next())
        return StoredEvent(
          sequence: sequence, token: token, type: type,
          data: name.map { NewEvent.naming($0, in: data) } ?? data,
          time: try row.next())
      }
    }
  }

  func createCursor(of reader: String) {
    database.writeSoon { transaction in
      try transaction.run(
        """
        INSERT INTO counter(name, next) SELECT $1, coalesce((\(transaction.latestEvent)), 0) WHERE true
        ON CONFLICT DO NOTHING
        """, "events of " + reader)
    }
  }

  func latestEvent() async throws -> Int {
    try await database.read { try $0.value($0.latestEvent) ?? 0 }
  }

  func cursor(of reader: String) async throws -> Int? {
    try await database.read { connection in
      try connection.value("SELECT next FROM counter WHERE name = $1", "events of " + reader)
    }
  }

  func setCursor(_ sequence: Int?, of reader: String) async throws {
    try await database.write { transaction in
      let name = "events of " + reader
      guard let sequence else {
        try transaction.run("DELETE FROM counter WHERE name = $1", name)
        return
      }
      try transaction.run(
        """
        INSERT INTO counter(name, next) VALUES ($1, $2)
        ON CONFLICT (name) DO UPDATE SET next = excluded.next
        """, name, sequence)
    }
  }
}

// MARK: - Receipts

extension NewEvent {
  /// How a receipt names its user until it is read, so that it never names one who was removed.
  static let noUser = #""user":null"#

  /// The data of a receipt; texts of members are quoted here.
  static func receipt(of id: Int, _ members: KeyValuePairs<String, String?>, state: String)
    -> String
  {
    members.reduce(into: "{\"notification\":\(id),\(noUser)") { data, member in
      data += ",\"\(member.key)\":\(member.value.map(JSONText.quoted) ?? "null")"
    } + ",\"state\":\"\(state)\"}"
  }

  /// The receipt that tells of a job.
  static func job(
    _ job: Int, of id: Int, sender: UserID?, user: UserID?, device: String?, lane: String,
    state: JobState, reason: String?, at time: Date
  ) -> Self {
    let texts = [device, lane, reason].map { $0.map(JSONText.quoted) ?? "null" }
    return Self(
      type: "receipt", publisher: sender, user: user, notification: id,
      data: "{\"notification\":\(id),\(noUser),\"device\":\(texts[0]),\"lane\":\(texts[1]),"
        + "\"job\":\(job),\"state\":\"\(state.rawValue)\",\"reason\":\(texts[2])}",
      time: time)
  }

  /// The data of a receipt with the name of its user.
  static func naming(_ user: String, in data: String) -> String {
    // The first one: only a number precedes it.
    guard let range = data.firstRange(of: noUser) else { return data }
    return data[..<range.lowerBound] + "\"user\":" + JSONText.quoted(user)
      + data[range.upperBound...]
  }
}
