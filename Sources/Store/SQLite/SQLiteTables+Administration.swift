import FoundationEssentials
import Primitives

extension SQLiteTables {
  func users(
    after name: String, includingPasswordless: Bool, limit: Int
  ) throws -> [UserSummary] {
    try database.all(
      """
      SELECT id, name, role, hash IS NULL, created,
        (SELECT count(*) FROM registration WHERE registration.user = user.id AND ended IS NULL),
        (SELECT max(updated) FROM registration WHERE registration.user = user.id),
        coalesce(max_devices, ?)
      FROM user WHERE name > ? AND (hash IS NOT NULL OR ?) ORDER BY name LIMIT ?
      """, UserQuota.devices, name,
      includingPasswordless, max(0, limit), as: UserSummary.init)
  }

  func putUser(
    _ name: String, role: Role, hash: String?, endingRegistrations: Bool, maxDevices: Int?
  ) async throws -> Bool {
    if try user(named: name) == nil {
      guard let hash else {
        throw StoreError(.missing, "a new user needs a password")
      }
      try await addUser(name, hash: hash, role: role, maxDevices: maxDevices)
      return true
    }
    let now = now()
    let isKnown = try await database.write { connection in
      if role != .admin { try connection.checkAdmins(without: name) }
      let user = try connection.value(
        """
        UPDATE user SET role = ?, hash = coalesce(?, hash), max_devices = coalesce(?, max_devices)
        WHERE name = ? AND hash IS NOT NULL RETURNING id
        """, role, hash, maxDevices, name, as: UserID.self)
      guard let user else { return false }
      if hash != nil {
        try connection.endCredentials(of: user, endingRegistrations: endingRegistrations)
      }
      if role == .device { try connection.holdScheduled(of: user, at: now) }
      connection.effects.add(.credentialsEnded(user))
      return true
    }
    if !isKnown { throw StoreError(.missing, "the user was removed meanwhile") }
    return false
  }

  func removeUserUnlessLastAdmin(_ name: String) async throws -> Bool {
    let now = now()
    return try await database.write { connection in
      try connection.checkAdmins(without: name)
      return try connection.removeUser(named: name, at: now)
    }
  }

  func endCredentials(of user: UserID, endingRegistrations: Bool) async throws -> Bool {
    try await database.write { connection in
      guard try connection.isUser(user) else { return false }
      try connection.endCredentials(of: user, endingRegistrations: endingRegistrations)
      return true
    }
  }

  func contentSize() throws -> Int {
    try database.value(
      """
      SELECT coalesce(sum(size), 0) FROM (
        SELECT max(size) AS size FROM (
          SELECT blob, blob_size AS size FROM notification WHERE blob IS NOT NULL
          UNION ALL SELECT blob, bytes FROM asset WHERE blob IS NOT NULL
        ) GROUP BY blob)
      """) ?? 0
  }
}

extension SQLiteConnection {
  /// Ends a user's sessions, the tokens of the user's devices and, if asked to, the registrations.
  func endCredentials(of user: UserID, endingRegistrations: Bool) throws {
    try run(
      """
      DELETE FROM device_token WHERE registration IN (SELECT id FROM registration WHERE user = ?)
      """, user)
    try run("DELETE FROM session WHERE user = ?", user)
    if endingRegistrations { try run("DELETE FROM registration WHERE user = ?", user) }
    effects.add(.credentialsEnded(user))
  }

  /// Holds what a user has scheduled, until an admin names another time for it.
  func holdScheduled(of user: UserID, at now: Date) throws {
    let far = StoredNotification.untilReleased
    let held = Self.list(
      try column(
        """
        UPDATE notification SET held = not_before, not_before = ?
        WHERE sender = ? AND not_before > ? AND held IS NULL AND withdrawn IS NULL RETURNING id
        """, far, user, now))
    let among = "IN (SELECT value FROM json_each(?2))"
    try run("UPDATE held_event SET due = ?1 WHERE notification \(among)", far, held)
    try run(
      "UPDATE audience_part SET due = ?1 WHERE due IS NOT NULL AND notification \(among)", far, held
    )
    try run(
      """
      UPDATE job SET due = ?1 WHERE state = 'queued'
        AND push IN (SELECT id FROM push WHERE notification \(among))
      """, far, held)
  }

  /// Throws `conflict` if this user is the only admin.
  fileprivate func checkAdmins(without name: String) throws {
    let isLast = try value(
      """
      SELECT role = 'admin' AND NOT EXISTS (
        SELECT 1 FROM user AS other
        WHERE other.role = 'admin' AND other.hash IS NOT NULL AND other.name <> user.name)
      FROM user WHERE name = ? AND hash IS NOT NULL
      """, name, as: Bool.self)
    if isLast == true {
      throw StoreError(.conflict, "“\(name)” is the last admin")
    }
  }
}

// MARK: - The outbox

extension SQLiteTables {
  func jobs(
    in state: JobState?, lane: String?, before: Int?, limit: Int
  ) throws -> [JobRecord] {
    let limit = max(0, limit)
    return try database.read { connection in
      // Newest first in each state and lane, which an index has in order.
      guard state != nil || lane != nil else {
        return try connection.jobs("true", "", "", before: before, limit: limit)
      }
      let states = state.map { [$0] } ?? JobState.allCases
      var found: [JobRecord] = []
      for state in states {
        for lane in try lane.map({ [$0] }) ?? connection.lanes(in: state) {
          found += try connection.jobs(
            "state = ?1 AND job.lane = ?2", state.rawValue, lane, before: before, limit: limit)
        }
      }
      return Array(found.sorted { $0.job > $1.job }.prefix(limit))
    }
  }

  func replay(lane: String?) async throws -> Int {
    try await replay(where: lane == nil ? "?1 = ''" : "lane = ?1", lane ?? "")
  }

  func laneQueues() throws -> [LaneQueue] {
    try database.all(
      """
      SELECT waiting.lane, waiting.number,
        (SELECT max(created, coalesce(not_before, 0)) FROM job JOIN push ON push.id = job.push
          JOIN notification ON notification.id = push.notification WHERE job.id = oldest),
        (SELECT reason FROM job WHERE state = 'queued' AND job.lane = waiting.lane ORDER BY due LIMIT 1)
      FROM (
        SELECT lane, count(*) AS number, min(id) AS oldest FROM job
        WHERE state = 'queued' GROUP BY lane
      ) AS waiting ORDER BY waiting.lane
      """, as: LaneQueue.init)
  }
}

extension SQLiteConnection {
  fileprivate func jobs(
    _ condition: String, _ state: String, _ lane: String, before: Int?, limit: Int
  ) throws -> [JobRecord] {
    try all(
      """
      SELECT \(JobRecord.columns) FROM job JOIN push ON push.id = job.push
      WHERE \(condition) AND (?1 IS NOT NULL OR ?2 IS NOT NULL) AND job.id < ?3
      ORDER BY job.id DESC LIMIT ?4
      """, state, lane, before ?? .max, limit, as: JobRecord.init)
  }

  /// The lanes that have jobs in a state; the cost grows with the lanes, not with the jobs.
  fileprivate func lanes(in state: JobState) throws -> [String] {
    try column(
      """
      WITH RECURSIVE found(lane) AS (
        SELECT min(lane) FROM job WHERE state = ?1
        UNION ALL
        SELECT (SELECT min(lane) FROM job WHERE state = ?1 AND lane > found.lane)
        FROM found WHERE lane IS NOT NULL)
      SELECT lane FROM found WHERE lane IS NOT NULL
      """, state)
  }
}
