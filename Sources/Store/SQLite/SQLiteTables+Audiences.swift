import FoundationEssentials

/// A part of a notification's audience: users who become recipients, or devices that get a push.
///
/// A large audience is stored with its notification in parts, which become rows one after the other, each in
/// a commit of its own: no other change waits for long, and nothing is lost or done twice if the process ends.
private struct AudiencePart {
  enum Members {
    /// In ascending order; with the data of their push event, if it is due.
    case users([UserID], event: String?)
    /// IDs of registrations, whose jobs are due at a time.
    case devices([String], push: Int, due: Date)
  }

  let notification: Int
  let members: Members

  /// Written in about 20 ms.
  static let size = 500
  /// A smaller audience is written at once.
  static let undividedAudience = 1000
}

extension SQLiteTables {
  func writeNextPart() async throws -> Bool { try await writePart(of: nil) }

  func completeAudience(of id: Int) async throws {
    while try await writePart(of: id) {}
  }

  /// Writes the oldest stored part, of a notification if one is given; false if there is none.
  private func writePart(of notification: Int?) async throws -> Bool {
    let query = """
      SELECT id FROM audience_part\(notification == nil ? "" : " WHERE notification = ?")
      ORDER BY id LIMIT 1
      """
    let values: [any Column & Sendable] = notification.map { [$0] } ?? []
    // Most commits leave nothing to write.
    if try database.rows(query, values: values, limit: 1, read: { try $0.next(Int.self) }).isEmpty {
      return false
    }
    let now = now()
    let part = try await database.write { connection -> (part: AudiencePart, lane: String?)? in
      let id = try connection.rows(query, values: values, limit: 1) { try $0.next(Int.self) }.first
      guard let id, let part = try connection.takePart(id) else { return nil }
      try connection.write(part, at: now)
      guard case .devices(_, let push, _) = part.members else { return (part, nil) }
      return (part, try connection.value("SELECT lane FROM push WHERE id = ?", push))
    }
    if let part {
      if case .users(let users, .some) = part.part.members { observers.onPushEvents(users) }
      if let lane = part.lane { observers.onJobs([lane]) }
    }
    return true
  }
}

extension SQLiteConnection {
  /// Inserts the recipients, push events and jobs of a notification, due at once or at its `notBefore`.
  ///
  /// Those of a large audience are stored for `writeNextPart`.
  func announce(
    _ new: NotificationInsert, to users: [UserID], as id: Int, at now: Date
  ) throws {
    let due = max(new.notBefore ?? now, now)
    let event = new.push?(id)
    if let event, due > now {
      try run("INSERT INTO held_event(notification, due, data) VALUES (?, ?, ?)", id, due, event)
    }
    let devices = new.pushes.reduce(0) { $0 + $1.deviceCount }
    let isSmall = users.count + devices <= AudiencePart.undividedAudience
    try add(parts(of: id, users, event: due > now ? nil : event), atOnce: isSmall, at: now)
    for push in new.pushes {
      let row = try insert(push, notification: id, expires: new.expires)
      switch push.target {
      case .audience(let expression, let user):
        try insertJob(of: row, for: expression, user: user, due: due, at: now)
      case .devices(let devices):
        let parts = chunks(devices).map {
          AudiencePart(notification: id, members: .devices($0, push: row, due: due))
        }
        try add(parts, atOnce: isSmall, at: now)
      }
    }
  }

  /// Inserts the push event of a notification for each of its recipients, and returns those who have it now.
  func insertPushEvents(of id: Int, data: String, at now: Date) throws -> [UserID] {
    // Those who are no recipients yet get it when they become some.
    try run(
      "UPDATE audience_part SET event = ? WHERE notification = ? AND push IS NULL", data, id)
    let users: [UserID] = try column(
      "SELECT user.id FROM recipient JOIN user ON user.id = user WHERE notification = ? ORDER BY 1",
      id)
    let isSmall = users.count <= AudiencePart.undividedAudience
    try add(parts(of: id, users, event: data), atOnce: isSmall, at: now)
    return isSmall ? users : []
  }

  /// Makes a user of a stored part a recipient before that part's turn.
  func addPendingRecipient(_ user: UserID, of id: Int) throws {
    try run(
      """
      INSERT INTO recipient(user, notification)
      SELECT ?1, ?2 WHERE EXISTS (\(Self.pendingRecipient)) ON CONFLICT DO NOTHING
      """, user, id)
  }

  /// Selects 0 if the user `?1` is in a stored part of the notification `?2`.
  static let pendingRecipient = """
    SELECT 0 FROM audience_part, json_each(members)
    WHERE notification = ?2 AND push IS NULL AND first <= ?1 AND last >= ?1 AND value = ?1
    """

  private func parts(of id: Int, _ users: [UserID], event: String?) -> [AudiencePart] {
    chunks(users).map { AudiencePart(notification: id, members: .users($0, event: event)) }
  }

  private func chunks<Member>(_ members: [Member]) -> [[Member]] {
    stride(from: 0, to: members.count, by: AudiencePart.size).map {
      Array(members[$0..<min($0 + AudiencePart.size, members.count)])
    }
  }

  private func add(_ parts: [AudiencePart], atOnce isSmall: Bool, at now: Date) throws {
    for part in parts { try isSmall ? write(part, at: now) : store(part) }
  }

  fileprivate func write(_ part: AudiencePart, at now: Date) throws {
    let id = part.notification
    switch part.members {
    case .devices(let devices, let push, let due):
      try insertJobs(of: push, for: devices, due: due, at: now)
    case .users(let users, let event):
      let list = Self.list(users.map(\.rawValue))
      try run(
        """
        INSERT INTO recipient(user, notification)
        SELECT user.id, ? FROM json_each(?) JOIN user ON user.id = value
        WHERE true ON CONFLICT DO NOTHING
        """, id, list)
      guard let event else { return }
      try run(
        """
        INSERT INTO push_event(user, notification, data, created)
        SELECT user.id, ?, ?, ? FROM json_each(?) JOIN user ON user.id = value ORDER BY user.id
        """, id, event, now, list)
      try insertReceipts("queued", of: id, users: list, lane: "embedded", at: now)
    }
  }

  private func store(_ part: AudiencePart) throws {
    switch part.members {
    case .users(let users, let event):
      try run(
        """
        INSERT INTO audience_part(notification, event, first, last, members)
        VALUES (?, ?, ?, ?, ?)
        """, part.notification, event, users.first, users.last, Self.list(users.map(\.rawValue)))
    case .devices(let devices, let push, let due):
      try run(
        "INSERT INTO audience_part(notification, push, due, members) VALUES (?, ?, ?, ?)",
        part.notification, push, due, StringList(devices))
    }
  }

  fileprivate func takePart(_ id: Int) throws -> AudiencePart? {
    let numbers: [Int] = try column(
      """
      SELECT value FROM audience_part, json_each(members)
      WHERE audience_part.id = ? AND push IS NULL
      """, id)
    return try first(
      """
      DELETE FROM audience_part WHERE id = ?
      RETURNING notification, event, push, due, iif(push IS NULL, '[]', members)
      """, id
    ) { row in
      let notification: Int = try row.next()
      let event: String? = try row.next()
      let (push, due): (Int?, Date?) = (try row.next(), try row.next())
      let devices: StringList = try row.next()
      let members: AudiencePart.Members =
        if let push, let due {
          .devices(devices.items, push: push, due: due)
        } else {
          .users(numbers.map(UserID.init(rawValue:)), event: event)
        }
      return AudiencePart(notification: notification, members: members)
    }
  }
}

extension PushInsert {
  fileprivate var deviceCount: Int {
    if case .devices(let devices) = target { devices.count } else { 0 }
  }
}
