import FoundationEssentials
import Primitives

/// The recipients and devices of a notification, prepared for the database by the caller's thread.
///
/// A large audience is stored with its notification in parts, which become rows one after the other, a few in
/// each commit: no other change waits for long, and nothing is lost or done twice if the process ends.
struct AudienceParts: Sendable {
  /// Members of a part, as a list in JSON, written in about 5 ms.
  fileprivate struct Part: Sendable {
    let members: String
    /// The least and the greatest, of users.
    var range: ClosedRange<UserID>?
    /// ``RecipientValues/json(among:)`` of users.
    var values: String?
    /// When users learn of it, if that is a time of their own.
    var due: Date?
  }

  /// Recipients, in ascending order among those of one time.
  fileprivate let users: [Part]
  /// The IDs of registrations, for each push.
  fileprivate let devices: [[Part]]
  /// Whether it is written at once.
  let isSmall: Bool

  private static let partSize = 500
  private static let undividedAudience = 1000

  /// The audience of a notification; `recipients` are in ascending order.
  init(_ recipients: [UserID], of new: NotificationInsert) {
    self.init(new.groups(of: recipients), new.pushes, values: new.values)
  }

  /// Users are in ascending order among those of one time.
  init(
    _ groups: [(due: Date?, users: [UserID])], _ pushes: [PushInsert] = [],
    values: RecipientValues? = nil
  ) {
    users = groups.flatMap { due, users in
      Self.divide(users) { part in
        Part(
          members: "[\(part.map { String($0.rawValue) }.joined(separator: ","))]",
          range: part[part.startIndex]...part[part.endIndex - 1],
          values: values?.json(among: part), due: due)
      }
    }
    devices = pushes.map { push in
      guard case .devices(let devices) = push.target else { return [] }
      return Self.divide(devices) { Part(members: JSONText.array(Array($0))) }
    }
    let count = groups.reduce(0) { $0 + $1.users.count }
    isSmall = count + pushes.reduce(0) { $0 + $1.deviceCount } <= Self.undividedAudience
  }

  private static func divide<Members: RandomAccessCollection>(
    _ members: Members, _ part: (Members.SubSequence) -> Part
  ) -> [Part] where Members.Index == Int {
    stride(from: 0, to: members.count, by: partSize).map {
      part(members[$0..<min($0 + partSize, members.count)])
    }
  }
}

extension SQLiteTables {
  func writeNextParts(within time: Duration) async throws -> Bool {
    try await writeParts(of: nil, within: time)
  }

  func completeAudience(of id: Int) async throws {
    while try await writeParts(of: id, within: .zero) {}
  }

  /// Writes the oldest stored parts, of a notification if one is given, until the time has passed, and at
  /// least one; false if there is none.
  private func writeParts(of notification: Int?, within time: Duration) async throws -> Bool {
    let query = """
      SELECT id FROM audience_part WHERE (push IS NULL OR due < $1)
        \(notification == nil ? "" : "AND notification = $2")
      ORDER BY id LIMIT 1
      """
    let far = StoredNotification.untilReleased
    let values: [any Parameter & Sendable] = notification.map { [far, $0] } ?? [far]
    // Most commits leave nothing to write.
    let next = try database.read { connection in
      try connection.rows(query, values: values, limit: 1) { try $0.next(Int.self) }
    }
    if next.isEmpty { return false }
    let now = now()
    try await database.write { connection in
      try connection.requireSpace()
      let deadline = ContinuousClock.now + time
      repeat {
        let id = try connection.rows(query, values: values, limit: 1) { try $0.next(Int.self) }
        guard let id = id.first else { break }
        try connection.writePart(id, at: now)
      } while ContinuousClock.now < deadline
    }
    return true
  }
}

extension SQLiteConnection {
  func announce(
    _ new: NotificationInsert, to recipients: [UserID], as notification: StoredNotification,
    at now: Date
  ) throws {
    let audience = AudienceParts(recipients, of: new)
    try announce(new, to: audience, as: notification.id, at: now)
  }

  /// Inserts the recipients, push events and jobs of a notification, due at once, at its `notBefore`, or at times of
  /// their own.
  ///
  /// Those of a large audience are stored for `writeNextParts`.
  func announce(
    _ new: NotificationInsert, to audience: AudienceParts, as id: Int, at now: Date
  ) throws {
    let times = Set(audience.users.map { new.due($0.due, at: now) })
    if let event = new.event {
      for due in times.sorted() where due > now {
        try run(
          "INSERT INTO held_event(notification, due, data) VALUES ($1, $2, $3)", id, due, event)
      }
    }
    try add(audience, of: id, at: now) { new.due($0, at: now) > now ? nil : new.event }
    for (push, devices) in zip(new.pushes, audience.devices) {
      let due = new.due(push.scheduled, at: now)
      let row = try insert(push, notification: id, expires: new.expires)
      effects.add(.jobs(lane: push.lane))
      if case .audience(let expression, let user) = push.target {
        try insertJob(of: row, for: expression, user: user, due: due, at: now)
      }
      for part in devices {
        if audience.isSmall {
          try insertJobs(of: row, for: part.members, due: due, at: now)
        } else {
          try run(
            "INSERT INTO audience_part(notification, push, due, members) VALUES ($1, $2, $3, $4)",
            id,
            row, due, part.members)
        }
      }
    }
  }

  func insertPushEvents(of id: Int, due: Date, data: String, at now: Date) throws {
    // Those who are no recipients yet get it when they become some.
    try run(
      """
      UPDATE audience_part SET event = $1
      WHERE notification = $2 AND push IS NULL AND (due IS NULL OR due = $3)
      """, data, id, due)
    let users = try recipients(of: id, due: due)
    try add(AudienceParts([(nil, users)]), of: id, at: now) { _ in data }
  }

  func pendingRecipient(_ user: String, of id: String, at time: String) -> String {
    """
    SELECT false FROM audience_part AS part, json_each(members)
    WHERE part.notification = \(id) AND part.push IS NULL AND part.first <= \(user) AND part.last >= \(user)
      AND value = \(user) AND (part.due IS NULL OR part.due <= \(time))
    """
  }

  /// Inserts recipients and the push event of those of a time, or stores them for `writeNextParts`.
  private func add(
    _ audience: AudienceParts, of id: Int, at now: Date, event: (_ due: Date?) -> String?
  ) throws {
    for part in audience.users {
      if audience.isSmall {
        try write(
          part.members, part.values, of: id, due: part.due, event: event(part.due), at: now)
      } else {
        try run(
          """
          INSERT INTO audience_part(notification, event, due, first, last, members, data)
          VALUES ($1, $2, $3, $4, $5, $6, $7)
          """, id, event(part.due), part.due, part.range?.lowerBound, part.range?.upperBound,
          part.members, part.values)
      }
    }
  }

  private func write(
    _ users: String, _ values: String?, of id: Int, due: Date?, event: String?, at now: Date
  ) throws {
    if let values {
      try run(
        """
        INSERT INTO recipient_values(notification, user_id, data)
        SELECT $1, CAST(substr(key, 2) AS bigint), value FROM json_each($2) WHERE true
        ON CONFLICT (notification, user_id) DO UPDATE SET data = excluded.data
        """, id, values)
    }
    try run(
      """
      INSERT INTO recipient(user_id, notification, due)
      SELECT users.id, $1, $2 FROM json_each($3) JOIN users ON users.id = value
      WHERE true ON CONFLICT DO NOTHING
      """, id, due, users)
    guard let event else { return }
    // CROSS JOIN keeps the order of the users.
    try run(
      """
      INSERT INTO push_event(user_id, notification, data, created)
      SELECT users.id, $1, $2, $3 FROM json_each($4) CROSS JOIN users ON users.id = value
      """, id, event, now, users)
    try insertReceipts("queued", of: id, users: users, lane: "embedded", at: now)
    effects.add(.pushEvents(try column("SELECT value FROM json_each($1)", users)))
  }

  /// Writes a stored part and removes it.
  fileprivate func writePart(_ id: Int, at now: Date) throws {
    let part = try first(
      "DELETE FROM audience_part WHERE id = $1 RETURNING notification, event, push, due, members, data",
      id
    ) { row in
      (
        notification: try row.next(Int.self), event: try row.next(String?.self),
        push: try row.next(Int?.self), due: try row.next(Date?.self),
        members: try row.next(String.self), values: try row.next(String?.self)
      )
    }
    guard let part else { return }
    guard let push = part.push else {
      return try write(
        part.members, part.values, of: part.notification, due: part.due, event: part.event,
        at: now)
    }
    if part.members == "[]" {
      return try cancelRest(ofPush: push, of: part.notification, at: now)
    }
    try insertJobs(of: push, for: part.members, due: part.due ?? now, at: now)
    let lane = try value("SELECT lane FROM push WHERE id = $1", push, as: String.self)
    if let lane { effects.add(.jobs(lane: lane)) }
  }
}

extension SQLiteConnection {
  func cancelLater(_ pushes: [Int], of notification: Int) throws {
    try run(
      """
      INSERT INTO audience_part(notification, push, due, members)
      SELECT $1, value, 0, '[]' FROM json_each($2)
      """, notification, pushes)
  }
}

extension PushInsert {
  fileprivate var deviceCount: Int {
    if case .devices(let devices) = target { devices.count } else { 0 }
  }
}
