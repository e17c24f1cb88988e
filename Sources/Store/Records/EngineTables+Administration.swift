import FoundationEssentials
import Primitives

extension EngineTables {
  func users(
    after name: String, includingPasswordless: Bool, limit: Int
  ) async throws -> [UserSummary] {
    try await database.read { connection in
      try connection.all(
        """
        SELECT id, name, role, hash IS NULL, created,
          (SELECT count(*) FROM registration WHERE user_id = users.id AND ended IS NULL),
          (SELECT max(updated) FROM registration WHERE user_id = users.id),
          coalesce(max_devices, $4)
        FROM users WHERE name > $1 AND (hash IS NOT NULL OR $2) ORDER BY name LIMIT $3
        """, name, includingPasswordless, max(0, limit), UserQuota.devices, as: UserSummary.init)
    }
  }

  func putUser(
    _ name: String, role: Role, hash: String?, endingRegistrations: Bool, maxDevices: Int?
  ) async throws -> Bool {
    if try await user(named: name) == nil {
      guard let hash else {
        throw StoreError(.missing, "a new user needs a password")
      }
      try await addUser(name, hash: hash, role: role, maxDevices: maxDevices)
      return true
    }
    let now = now()
    let isKnown = try await database.write { transaction in
      if role != .admin { try transaction.checkAdmins(without: name) }
      let known = try transaction.first(
        """
        SELECT id, role, max_devices FROM users WHERE name = $1 AND hash IS NOT NULL
        \(transaction.lock("FOR UPDATE"))
        """, name
      ) { row in
        let (id, role): (UserID, Role) = (try row.next(), try row.next())
        return (id: id, role: role, most: try row.next(Int?.self))
      }
      guard let known else { return false }
      let user = known.id
      try transaction.run(
        """
        UPDATE users SET role = $1, hash = coalesce($2, hash), max_devices = coalesce($4, max_devices)
        WHERE id = $3
        """, role, hash, user, maxDevices)
      if role != known.role {
        try transaction.audit(.userRoleChanged, .user(user), detail: role.rawValue, at: now)
      }
      if hash != nil { try transaction.audit(.userPasswordChanged, .user(user), at: now) }
      if let maxDevices, maxDevices != known.most {
        try transaction.audit(.userLimitChanged, .user(user), detail: "\(maxDevices)", at: now)
      }
      if hash != nil {
        try transaction.endCredentials(of: user, endingRegistrations: endingRegistrations)
        try transaction.endSignUp(of: user)
      }
      if role == .device { try transaction.holdScheduled(of: user, at: now) }
      transaction.effects.add(.credentialsEnded(user))
      return true
    }
    if !isKnown { throw StoreError(.missing, "the user was removed meanwhile") }
    return false
  }

  func removeUserUnlessLastAdmin(_ name: String) async throws -> Bool {
    let now = now()
    return try await database.write { transaction in
      try transaction.checkAdmins(without: name)
      return try transaction.removeUser(named: name, at: now)
    }
  }

  func endCredentials(of user: UserID, endingRegistrations: Bool) async throws -> Bool {
    let now = now()
    return try await database.write { transaction in
      // What begins a session or adds a token meanwhile waits, or is seen.
      let isUser = try transaction.value(
        "SELECT true FROM users WHERE id = $1 \(transaction.lock("FOR UPDATE"))", user,
        as: Bool.self)
      guard isUser == true else { return false }
      try transaction.endCredentials(of: user, endingRegistrations: endingRegistrations)
      try transaction.run("DELETE FROM access_token WHERE user_id = $1", user)
      try transaction.audit(.userCredentialsEnded, .user(user), at: now)
      return true
    }
  }

  func recordCounts(includingPasswordless: Bool) async throws -> RecordCounts {
    let now = now()
    // Not by GROUP BY, for which SQLite sorts the rows.
    let numbers = Role.allCases.map { "count(*) FILTER (WHERE role = '\($0.rawValue)')" }
    return try await database.read { connection in
      let users = try connection.first(
        "SELECT \(numbers.joined(separator: ", ")) FROM users WHERE hash IS NOT NULL OR $1",
        includingPasswordless
      ) { row in
        try Role.allCases.reduce(into: [Role: Int]()) { $0[$1] = try row.next() }
      }
      return RecordCounts(
        users: users ?? [:],
        // Those whose recipients know of them later, or are found later: few of all notifications.
        scheduled: try connection.value(
          """
          SELECT count(*) FROM notification
          WHERE id IN (
              SELECT notification FROM held_event WHERE due > $1
              UNION SELECT notification FROM due_audience)
            AND not_before > $1 AND held IS NULL AND withdrawn IS NULL AND awaits IS NULL
          """, now) ?? 0,
        awaitingApproval: try connection.value(
          "SELECT count(*) FROM notification WHERE \(StoredNotification.awaitsDecision("$1"))", now)
          ?? 0)
    }
  }

  func contentSize() async throws -> Int {
    try await database.read { connection in
      try connection.value(
        """
        SELECT CAST(coalesce(sum(size), 0) AS bigint) FROM (
          SELECT max(size) AS size FROM (
            SELECT blob, blob_size AS size FROM notification WHERE blob IS NOT NULL
            UNION ALL SELECT blob, bytes FROM asset WHERE blob IS NOT NULL
            UNION ALL SELECT blob, bytes FROM asset_version
          ) AS reference GROUP BY blob) AS content
        """) ?? 0
    }
  }
}

extension Changing {
  /// Holds what a user has scheduled, until an admin names another time for it.
  func holdScheduled(of user: UserID, at now: Date) throws {
    let far = StoredNotification.untilReleased
    let held = try column(
      """
      UPDATE notification SET held = not_before, not_before = $1
      WHERE sender = $2 AND not_before > $3 AND held IS NULL AND withdrawn IS NULL RETURNING id
      """, far, user, now, as: Int.self)
    try run(
      """
      DELETE FROM held_event WHERE notification \(isIn("$1")) AND due > (
        SELECT min(due) FROM held_event AS first WHERE first.notification = held_event.notification)
      """, held)
    try run("UPDATE held_event SET due = $1 WHERE notification \(isIn("$2"))", far, held)
    try run(
      "UPDATE audience_part SET due = $1 WHERE push IS NOT NULL AND notification \(isIn("$2"))",
      far,
      held)
    try run(
      "UPDATE push SET scheduled = $1 WHERE scheduled IS NOT NULL AND notification \(isIn("$2"))",
      far, held)
    try run(
      """
      UPDATE job SET due = $1 WHERE state = 'queued'
        AND push IN (SELECT id FROM push WHERE notification \(isIn("$2")))
      """, far, held)
  }

  /// Throws `conflict` if this user is the only admin; admins are locked, so that two nodes do not remove the
  /// last two at once.
  fileprivate func checkAdmins(without name: String) throws {
    if try admins().map(\.name) == [name] { throw StoreError.lastAdmin(name) }
  }

  /// The same for a user of this number.
  func checkAdmins(without user: UserID) throws {
    let admins = try admins()
    if admins.map(\.id) == [user] { throw StoreError.lastAdmin(admins[0].name) }
  }

  private func admins() throws -> [(id: UserID, name: String)] {
    try all(
      """
      SELECT id, name FROM users WHERE role = 'admin' AND hash IS NOT NULL ORDER BY id
      \(lock("FOR UPDATE"))
      """
    ) { row in (id: try row.next(UserID.self), name: try row.next(String.self)) }
  }
}

extension StoreError {
  fileprivate static func lastAdmin(_ name: String) -> StoreError {
    StoreError(.conflict, "“\(name)” is the last admin")
  }
}

// MARK: - The outbox

extension EngineTables {
  func jobs(
    in state: JobState?, lane: String?, before: Int?, limit: Int
  ) async throws -> [JobRecord] {
    let limit = max(0, limit)
    return try await database.read { connection in
      // Newest first in each state and lane, which an index has in order.
      guard state != nil || lane != nil else {
        return try connection.all(
          """
          SELECT \(JobRecord.columns) FROM job JOIN push ON push.id = job.push
          WHERE job.id < $1 ORDER BY job.id DESC LIMIT $2
          """, before ?? .max, limit, as: JobRecord.init)
      }
      let states = state.map { [$0] } ?? JobState.allCases
      var found: [JobRecord] = []
      for state in states {
        for lane in try lane.map({ [$0] }) ?? connection.lanes(in: state) {
          found += try connection.all(
            """
            SELECT \(JobRecord.columns) FROM job JOIN push ON push.id = job.push
            WHERE state = $1 AND job.lane = $2 AND job.id < $3 ORDER BY job.id DESC LIMIT $4
            """, state, lane, before ?? .max, limit, as: JobRecord.init)
        }
      }
      return Array(found.sorted { $0.job > $1.job }.prefix(limit))
    }
  }

  func replay(lane: String?) async throws -> Int { try await replay(job: nil, lane: lane) }

  func laneQueues() async throws -> [LaneQueue] {
    let now = now()
    let scheduled = "coalesce(scheduled, not_before)"
    return try await database.read { connection in
      // `due` is not asked for: a push that is to be sent again is due later than at first. Nothing that was created
      // after the first that is not scheduled, and has not waited for the end of quiet hours, can have waited longer.
      try connection.all(
        """
        SELECT waiting.lane, waiting.number,
          (SELECT min(CASE WHEN quiet IS NOT NULL THEN quiet
              WHEN \(scheduled) > created THEN \(scheduled) ELSE created END)
            FROM job JOIN push ON push.id = job.push JOIN notification ON notification.id = push.notification
            WHERE state = 'queued' AND job.lane = waiting.lane AND coalesce(\(scheduled), 0) <= $1
              AND (quiet IS NULL OR quiet <= $1) AND job.id <= coalesce((
                SELECT job.id
                FROM job JOIN push ON push.id = job.push JOIN notification ON notification.id = push.notification
                WHERE state = 'queued' AND job.lane = waiting.lane
                  AND coalesce(\(scheduled), 0) <= created AND quiet IS NULL
                ORDER BY job.id LIMIT 1), \(Int.max))),
          (SELECT reason FROM job WHERE state = 'queued' AND job.lane = waiting.lane
            ORDER BY due LIMIT 1)
        FROM (
          SELECT lane, count(*) AS number FROM job WHERE state = 'queued' GROUP BY lane
        ) AS waiting ORDER BY waiting.lane
        """, now, as: LaneQueue.init)
    }
  }
}

extension Queryable {
  /// The lanes that have jobs in a state; the cost grows with the lanes, not with the jobs.
  fileprivate func lanes(in state: JobState) throws -> [String] {
    try column(
      """
      WITH RECURSIVE found(lane) AS (
        SELECT min(lane) FROM job WHERE state = $1
        UNION ALL
        SELECT (SELECT min(job.lane) FROM job WHERE state = $1 AND job.lane > found.lane)
        FROM found WHERE lane IS NOT NULL)
      SELECT lane FROM found WHERE lane IS NOT NULL
      """, state)
  }
}
