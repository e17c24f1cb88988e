import FoundationEssentials

// A large audience is stored with its notification in parts, as in SQLiteTables+Audiences.swift. Any node
// writes any part; a part that a node is writing is locked, and passed over by the others.

extension PostgresTables {
  func writeNextParts(within time: Duration) async throws -> Bool { try await writePart(of: nil) }

  func completeAudience(of id: Int) async throws {
    while try await hasParts(of: id) {
      // False if all that remain are being written by others.
      if try await !writePart(of: id) { try await Task.sleep(for: .milliseconds(20)) }
    }
  }

  private func hasParts(of notification: Int?) async throws -> Bool {
    try await database.read { connection in
      try connection.value(
        """
        SELECT EXISTS (
          SELECT 1 FROM audience_part
          WHERE ($1::bigint IS NULL OR notification = $1) AND (push IS NULL OR due < $2))
        """, notification, StoredNotification.untilReleased) ?? false
    }
  }

  /// Writes the oldest stored parts, of a notification if one is given; false if there are none.
  private func writePart(of notification: Int?) async throws -> Bool {
    // Most commits leave nothing to write.
    guard try await hasParts(of: notification) else { return false }
    let now = now()
    return try await database.write { transaction in
      var written = 0
      // Where each minute has few members, its parts are small.
      while written < PostgresAudiencePart.size,
        let part = try transaction.takePart(of: notification)
      {
        try transaction.write(part, at: now)
        written += Swift.max(1, part.members.count)
      }
      return written > 0
    }
  }
}

/// A part of a notification's audience: users who become recipients, or devices that get a push.
private struct PostgresAudiencePart {
  enum Members {
    /// In ascending order; with ``RecipientValues/json(among:)``, when they learn of it, if that is a time of their own,
    /// and the data of their push event, if it is due.
    case users([UserID], values: String?, due: Date?, event: String?)
    /// IDs of registrations, whose jobs are due at a time.
    case devices([String], push: Int, lane: String, due: Date)
    /// None: what is queued of a push is cancelled.
    case obsolete(push: Int)

    var count: Int {
      switch self {
      case .users(let users, _, _, _): users.count
      case .devices(let devices, _, _, _): devices.count
      case .obsolete: PostgresAudiencePart.size
      }
    }
  }

  let notification: Int
  let sender: UserID?
  let members: Members

  /// Written in about 20 ms.
  static let size = 500
  /// A smaller audience is written at once.
  static let undividedAudience = 1000
}

extension PostgresTransaction {
  func announce(
    _ new: NotificationInsert, to users: [UserID], as notification: StoredNotification, at now: Date
  ) throws {
    let id = notification.id
    let groups = new.groups(of: users)
    if let event = new.event {
      for due in Set(groups.map { new.due($0.due, at: now) }).sorted() where due > now {
        try send(
          "INSERT INTO held_event(notification, due, data) VALUES ($1, $2, $3)", id, due, event)
      }
    }
    let devices = new.pushes.reduce(0) { $0 + $1.deviceCount }
    let isSmall = users.count + devices <= PostgresAudiencePart.undividedAudience
    let parts = groups.flatMap { due, users in
      self.parts(
        of: id, sender: notification.sender, users, new.values, due: due,
        event: new.due(due, at: now) > now ? nil : new.event)
    }
    try add(parts, atOnce: isSmall, at: now)
    // At once for all: there may be one for each minute of a day.
    var numbers: [Int] =
      isSmall
      ? []
      : try column(
        "SELECT nextval('push_id_seq') FROM generate_series(1, CAST($1 AS bigint))",
        new.pushes.count
      ).reversed()
    for push in new.pushes {
      let due = new.due(push.scheduled, at: now)
      if case .devices(let devices) = push.target, let row = numbers.popLast() {
        try insert(push, as: row, notification: id, expires: new.expires)
        for devices in chunks(devices) {
          try store(
            PostgresAudiencePart(
              notification: id, sender: notification.sender,
              members: .devices(devices, push: row, lane: push.lane, due: due)))
        }
        effects.add(.events)
      } else {
        insert(push, of: notification, expires: new.expires, due: due, at: now)
      }
    }
  }

  /// Inserts a push without jobs.
  private func insert(
    _ new: PushInsert, as id: Int, notification: Int, expires: Date?
  ) throws {
    try send(
      """
      INSERT INTO push(
        id, notification, lane, kind, message, media, collapse, expires, urgent, scheduled)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
      """, id, notification, new.lane, new.kind, new.message, new.media,
      new.collapseID(of: notification), expires, new.urgent, new.scheduled)
  }

  /// Inserts a push with its jobs.
  func insert(
    _ push: PushInsert, of notification: StoredNotification?, expires: Date?, due: Date,
    at now: Date
  ) {
    writes += 1
    rows.pushes.append(
      CollectedRows.Push(
        insert: push, notification: notification?.id, sender: notification?.sender,
        expires: expires, due: due, time: now))
    effects.add(.jobs(lane: push.lane))
  }

  func insertPushEvents(of id: Int, due: Date, data: String, at now: Date) throws {
    // Those who are no recipients yet get it when they become some.
    try run(
      """
      UPDATE audience_part SET event = $1
      WHERE notification = $2 AND push IS NULL AND (due IS NULL OR due = $3)
      """, data, id, due)
    let users = try recipients(of: id, due: due)
    let sender = try value("SELECT sender FROM notification WHERE id = $1", id, as: UserID?.self)
    let isSmall = users.count <= PostgresAudiencePart.undividedAudience
    try add(
      parts(of: id, sender: sender ?? nil, users, nil, due: nil, event: data), atOnce: isSmall,
      at: now)
  }

  private func parts(
    of id: Int, sender: UserID?, _ users: [UserID], _ values: RecipientValues?, due: Date?,
    event: String?
  ) -> [PostgresAudiencePart] {
    chunks(users).map {
      PostgresAudiencePart(
        notification: id, sender: sender,
        members: .users($0, values: values?.json(among: $0), due: due, event: event))
    }
  }

  private func chunks<Members: RandomAccessCollection>(
    _ members: Members
  ) -> [[Members.Element]] where Members.Index == Int {
    stride(from: 0, to: members.count, by: PostgresAudiencePart.size).map {
      Array(members[$0..<min($0 + PostgresAudiencePart.size, members.count)])
    }
  }

  private func add(_ parts: [PostgresAudiencePart], atOnce isSmall: Bool, at now: Date) throws {
    for part in parts { try isSmall ? write(part, at: now) : store(part) }
    if !isSmall, !parts.isEmpty { effects.add(.events) }
  }

  fileprivate func write(_ part: PostgresAudiencePart, at now: Date) throws {
    switch part.members {
    case .devices(let devices, let push, let lane, let due):
      try insertJobs(of: push, for: devices, due: due, at: now)
      effects.add(.jobs(lane: lane))
    case .obsolete(let push):
      try cancelRest(ofPush: push, of: part.notification, at: now)
    case .users(let users, let values, let due, let event):
      writes += 1
      if let values {
        try send(
          """
          INSERT INTO recipient_values(notification, user_id, data)
          SELECT $1, CAST(substr(key, 2) AS bigint), value FROM json_each_text($2)
          ON CONFLICT (notification, user_id) DO UPDATE SET data = excluded.data
          """, part.notification, values)
      }
      rows.recipients.append(
        CollectedRows.Recipients(
          notification: part.notification, sender: part.sender, users: users, due: due,
          event: event, time: now))
    }
  }

  private func store(_ part: PostgresAudiencePart) throws {
    switch part.members {
    case .users(let users, let values, let due, let event):
      try send(
        """
        INSERT INTO audience_part(notification, event, due, first, last, users, data)
        VALUES ($1, $2, $3, $4, $5, $6, $7)
        """, part.notification, event, due, users.first, users.last, users, values)
    case .devices(let devices, let push, _, let due):
      try send(
        "INSERT INTO audience_part(notification, push, due, devices) VALUES ($1, $2, $3, $4)",
        part.notification, push, due, StringList(devices))
    case .obsolete(let push): try cancelLater([push], of: part.notification)
    }
  }

  func cancelLater(_ pushes: [Int], of notification: Int) throws {
    try send(
      """
      INSERT INTO audience_part(notification, push, due, devices)
      SELECT $1, push, 0, $2 FROM unnest($3::bigint[]) AS push
      """, notification, StringList([]), pushes)
  }

  /// The oldest part that no other node is writing, which is removed.
  fileprivate func takePart(of notification: Int?) throws -> PostgresAudiencePart? {
    try first(
      """
      WITH taken AS (
        DELETE FROM audience_part WHERE id = (
          SELECT id FROM audience_part
          WHERE ($1::bigint IS NULL OR notification = $1) AND (push IS NULL OR due < $2)
          ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
        RETURNING notification, event, push, due, array_to_json(users), devices, data
      )
      SELECT taken.*, push.lane, notification.sender
      FROM taken JOIN notification ON notification.id = taken.notification
        LEFT JOIN push ON push.id = taken.push
      """, notification, StoredNotification.untilReleased
    ) { row in
      let notification: Int = try row.next()
      let event: String? = try row.next()
      let (push, due): (Int?, Date?) = (try row.next(), try row.next())
      let (users, devices): (NumberList?, StringList?) = (try row.next(), try row.next())
      let values: String? = try row.next()
      let (lane, sender): (String?, UserID?) = (try row.next(), try row.next())
      let members: PostgresAudiencePart.Members =
        if let push, devices == StringList([]) {
          .obsolete(push: push)
        } else if let push, let due, let lane {
          .devices(devices?.items ?? [], push: push, lane: lane, due: due)
        } else {
          .users(
            (users?.items ?? []).map(UserID.init(rawValue:)), values: values, due: due,
            event: event)
        }
      return PostgresAudiencePart(notification: notification, sender: sender, members: members)
    }
  }
}

/// Numbers in one column, as a JSON array.
private struct NumberList: RawRepresentable, Column {
  let rawValue: String

  var items: [Int] {
    rawValue.dropFirst().dropLast().split(separator: ",").compactMap { Int($0) }
  }
}

extension PushInsert {
  fileprivate var deviceCount: Int {
    if case .devices(let devices) = target { devices.count } else { 0 }
  }
}
