import FoundationEssentials
import Primitives

extension EngineTables {
  func putSegment(
    _ name: String, _ content: String, version: Int?, by user: UserID
  ) async throws -> SegmentResult {
    let now = now()
    return try await database.write { transaction in
      try transaction.requireSpace()
      guard try transaction.lockQuota(of: user) else {
        throw StoreError(.missing, "the user was removed")
      }
      let changed = try transaction.run(
        """
        UPDATE segment SET content = $1, editor = $2, updated = $3, version = version + 1
        WHERE name = $4 AND version = COALESCE(CAST($5 AS bigint), version)
        """, content, user, now, name, version)
      if changed == 0 {
        let known = try transaction.segment(name)
        if known != nil || version != nil { return .changedMeanwhile(known) }
        let count = try transaction.value(
          "SELECT count(*) FROM segment WHERE author = $1", user, as: Int.self)
        guard count ?? 0 < UserQuota.segments else { throw StoreError.tooManySegments }
        // Another node may have added it meanwhile.
        let added = try transaction.run(
          """
          INSERT INTO segment(name, content, version, author, editor, created, updated)
          VALUES ($1, $2, 1, $3, $3, $4, $4) ON CONFLICT DO NOTHING
          """, name, content, user, now)
        guard added == 1, let segment = try transaction.segment(name) else {
          return .changedMeanwhile(try transaction.segment(name))
        }
        try transaction.audit(.segmentAdded, .segment(name), at: now)
        return .added(segment)
      }
      try transaction.audit(.segmentChanged, .segment(name), at: now)
      return try transaction.segment(name).map(SegmentResult.changed) ?? .changedMeanwhile(nil)
    }
  }

  func segment(_ name: String) async throws -> StoredSegment? {
    try await database.read { try $0.segment(name) }
  }

  func segments(after name: String, limit: Int) async throws -> [StoredSegment] {
    try await database.read { connection in
      try connection.all(
        "SELECT \(StoredSegment.columns) WHERE segment.name > $1 ORDER BY segment.name LIMIT $2",
        name, limit, read: StoredSegment.init)
    }
  }

  func removeSegment(_ name: String, version: Int?) async throws -> SegmentRemoval {
    let now = now()
    return try await database.write { transaction in
      let present = try transaction.value(
        "SELECT version FROM segment WHERE name = $1 \(transaction.lock("FOR UPDATE"))", name,
        as: Int.self)
      guard let present else { return .missing }
      guard version == nil || version == present else { return .changedMeanwhile }
      let notification = try transaction.value(
        "SELECT notification FROM due_audience WHERE segment = $1 ORDER BY notification LIMIT 1",
        name, as: Int.self)
      if let notification { return .needed(by: notification) }
      try transaction.run("DELETE FROM segment WHERE name = $1", name)
      try transaction.audit(.segmentRemoved, .segment(name), at: now)
      return .removed
    }
  }

  func knowsRecipients(of notification: Int) async throws -> Bool {
    try await database.read { connection in
      try connection.value(
        "SELECT EXISTS (SELECT 1 FROM notification WHERE id = $1 AND emptied IS NULL)",
        notification, as: Bool.self) == true
    }
  }

  func members(
    meeting conditions: AudienceConditions, allowingPasswordless: Bool
  ) async throws -> AudienceMembers {
    let now = now()
    return try await database.read { connection in
      var found = AudienceMembers()
      try connection.planningForValues {
        found.devices = try connection.devices(meeting: conditions, at: now)
        guard conditions.areOfUsers, conditions.clauses == nil || !conditions.names.isEmpty else {
          return
        }
        var users = SQLConditions()
        if conditions.clauses != nil {
          users.require("name \(connection.isIn(users.parameter(Array(conditions.names))))")
        }
        users.require("(hash IS NOT NULL OR \(users.parameter(allowingPasswordless)))")
        connection.require(conditions, of: "users.id", to: &users)
        found.users = try connection.rows(
          "SELECT id FROM users WHERE \(users.text) ORDER BY id", values: users.values, limit: .max
        ) { try $0.next() }
      }
      return found
    }
  }
}

// MARK: - Audiences that are found when they are due

extension EngineTables {
  func dueAudiences(limit: Int) async throws -> (due: [StoredNotification], next: Date?) {
    let now = now()
    return try await database.read { connection in
      // CROSS JOIN: SQLite would go through all notifications.
      let due = try connection.all(
        """
        SELECT \(StoredNotification.columns)
        FROM due_audience CROSS JOIN notification
        WHERE notification.id = due_audience.notification AND (not_before IS NULL OR not_before <= $1)
        ORDER BY not_before, notification.id LIMIT $2
        """, now, limit, read: StoredNotification.init)
      let next = try connection.value(
        """
        SELECT min(not_before) FROM due_audience CROSS JOIN notification
        WHERE notification.id = due_audience.notification AND not_before > $1
        """, now, as: Date?.self)
      return (due, next ?? nil)
    }
  }

  func awaitsAudience(_ id: Int) async throws -> Bool {
    try await database.read { try $0.awaitsAudience(id) }
  }

  func announce(_ notification: StoredNotification, with new: NotificationInsert) async throws
    -> Bool
  {
    let (now, id) = (now(), notification.id)
    let recipients = Set(new.recipients).sorted()
    return try await database.write { transaction in
      try transaction.requireSpace()
      // Locked first: a change may be under way, or another node may announce it.
      let locked = try transaction.lockedNotification(id, at: now)
      guard try transaction.awaitsAudience(id) else { return false }
      guard let stored = locked else {
        try transaction.run("DELETE FROM due_audience WHERE notification = $1", id)
        return false
      }
      guard stored == notification else { return false }
      if try transaction.awaitApproval(of: stored, as: new, people: recipients.count, at: now) {
        return true
      }
      try transaction.run("DELETE FROM due_audience WHERE notification = $1", id)
      try transaction.run(
        "UPDATE notification_count SET recipients = $2 WHERE notification = $1", id,
        recipients.count)
      try transaction.announce(new, to: recipients, as: stored, at: now)
      transaction.effects.add(.change(id))
      return true
    }
  }

  func hold(_ notification: StoredNotification) async throws -> Bool {
    let (now, id) = (now(), notification.id)
    return try await database.write { transaction in
      guard let stored = try transaction.lockedNotification(id, at: now) else {
        try transaction.run("DELETE FROM due_audience WHERE notification = $1", id)
        return false
      }
      guard stored == notification else { return false }
      try transaction.run(
        "UPDATE notification SET held = COALESCE(not_before, $1), not_before = $2 WHERE id = $3",
        now, StoredNotification.untilReleased, id)
      transaction.effects.add(.change(id))
      return true
    }
  }
}

extension Queryable {
  func awaitsAudience(_ id: Int) throws -> Bool {
    try value("SELECT true FROM due_audience WHERE notification = $1", id) ?? false
  }
}

extension Changing {
  /// - Throws: `missing` if a notification is to be sent later to a segment that does not exist.
  func requireSegment(of new: NotificationInsert) throws {
    guard let segment = new.dueAudience?.segment else { return }
    let isThere = try value(
      "SELECT true FROM segment WHERE name = $1 \(lock("FOR KEY SHARE"))", segment, as: Bool.self)
    guard isThere == true else {
      throw StoreError(.missing, "the segment “\(segment)” was removed")
    }
  }

  /// Records that the recipients of a new notification are found when it is due.
  func addDueAudience(_ new: NotificationInsert, of notification: Int) throws {
    guard let audience = new.dueAudience else { return }
    try send("INSERT INTO due_audience VALUES ($1, $2)", notification, audience.segment)
    effects.add(.events)
  }
}

// MARK: - Parts of statements

/// Conditions that are joined by AND, with the values of their parameters.
private struct SQLConditions {
  private var conditions: [String] = []
  private(set) var values: [any Parameter] = []

  var text: String { conditions.joined(separator: " AND ") }

  mutating func require(_ condition: String) { conditions.append(condition) }

  /// The name of a parameter with this value.
  mutating func parameter(_ value: any Parameter) -> String {
    values.append(value)
    return "$\(values.count)"
  }
}

extension Queryable {
  fileprivate func segment(_ name: String) throws -> StoredSegment? {
    try first(
      "SELECT \(StoredSegment.columns) WHERE segment.name = $1", name, read: StoredSegment.init)
  }

  fileprivate func devices(
    meeting conditions: AudienceConditions, at now: Date
  ) throws -> AudienceDevices {
    var found = SQLConditions()
    var source = "registration"
    var clauses = conditions.clauses
    if clauses?.isEmpty == true { return AudienceDevices() }
    if clauses?.count == 1, let clause = clauses?.first,
      let rarest = try clause.with.min(by: { try count(of: $0) < count(of: $1) })
    {
      // CROSS JOIN: SQLite's planner must begin with the tag.
      source =
        "registration_tag AS rarest CROSS JOIN registration"
      found.require("registration.id = rarest.registration")
      found.require("rarest.tag = \(found.parameter(rarest))")
      let others = clause.with.filter { $0 != rarest }
      clauses = [TagClause(with: others, without: clause.without)]
    }
    found.require("registration.ended IS NULL")
    if let clauses {
      let alternatives = clauses.map { clause in
        let with = clause.with.map { hasTag(found.parameter($0)) }
        let without = clause.without.map { "NOT " + hasTag(found.parameter($0)) }
        let all = with + without
        return all.isEmpty ? "true" : "(" + all.joined(separator: " AND ") + ")"
      }
      found.require("(" + alternatives.joined(separator: " OR ") + ")")
    }
    if let language = conditions.language?.lowercased() {
      let (whole, variants) = (found.parameter(language), found.parameter(language + "-%"))
      found.require(
        "(lower(registration.language) = \(whole) OR lower(registration.language) LIKE \(variants))"
      )
    }
    if let platform = conditions.platform {
      found.require("registration.platform = \(found.parameter(platform))")
    }
    if let days = conditions.lastContact {
      let since = now - Double(days) * 86_400
      found.require(
        "coalesce(registration.contact, registration.updated) >= \(found.parameter(since))")
    }
    require(conditions, of: "registration.user_id", to: &found)
    var devices = AudienceDevices()
    _ = try rows(
      """
      SELECT registration.id, registration.user_id, registration.platform, registration.lane,
        registration.time_zone
      FROM \(source) WHERE \(found.text) ORDER BY registration.id
      """, values: found.values, limit: .max
    ) { row in
      devices.append(
        try row.next(), try row.next(), try row.next(), try row.next(), try row.next())
    }
    return devices
  }

  private func hasTag(_ tag: String) -> String {
    """
    EXISTS (SELECT 1 FROM registration_tag AS own
      WHERE own.tag = \(tag) AND own.registration = registration.id)
    """
  }

  /// Adds what a user must meet, whose number is in a column.
  fileprivate func require(
    _ conditions: AudienceConditions, of user: String, to found: inout SQLConditions
  ) {
    // Who waits for approval belongs to no audience, not even to that of everybody.
    found.require("\(user) NOT IN (SELECT sign_up.user_id FROM sign_up WHERE waiting = 1)")
    for (name, value) in conditions.attributes.sorted(by: { $0.key < $1.key }) {
      found.require(
        """
        EXISTS (SELECT 1 FROM user_attribute AS known WHERE known.user_id = \(user)
          AND known.name = \(found.parameter(name)) AND known.value = \(found.parameter(value)))
        """)
    }
    // IN: planners may begin with these, by the index on a notification's progress.
    for (notification, comparison) in [(conditions.opened, ">="), (conditions.notOpened, "<")] {
      guard let notification else { continue }
      found.require(
        """
        \(user) IN (SELECT recipient.user_id FROM recipient
          WHERE recipient.notification = \(found.parameter(notification)) AND \(progress) \(comparison) 4)
        """)
    }
  }
}

extension StoredSegment {
  fileprivate static let columns = """
    segment.name, content, version, authors.name, editors.name, segment.created, updated
    FROM segment LEFT JOIN users AS authors ON authors.id = author
      LEFT JOIN users AS editors ON editors.id = editor
    """

  fileprivate init(_ row: inout some Row) throws {
    (name, content, version) = (try row.next(), try row.next(), try row.next())
    (author, editor) = (try row.next(), try row.next())
    (created, updated) = (try row.next(), try row.next())
  }
}
