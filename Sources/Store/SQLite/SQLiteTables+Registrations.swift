import FoundationEssentials

extension SQLiteTables {
  func registration(
    forHandle handle: String, user: UserID, origin: RegistrationOrigin
  ) async throws -> String {
    let newID = String(UInt128.random(in: .min ... .max), radix: 16)
    let now = now()
    return try await database.write { connection in
      let isKnown = try connection.value(
        "SELECT 1 FROM registration WHERE handle = ?", handle, as: Bool.self)
      if isKnown != true { try connection.requireDeviceQuota(of: user) }
      try connection.run(
        """
        INSERT INTO registration(id, user, handle, updated, created, credential, user_agent)
        SELECT ?, user.id, ?, ?4, ?4, ?, ? FROM user WHERE user.id = ?3
        ON CONFLICT (handle) DO NOTHING
        """, newID, handle, user, now, origin.credential, origin.userAgent)
      return try connection.value(
        "SELECT id FROM registration WHERE handle = ? AND user = ?", handle, user, as: String.self)
        ?? newID
    }
  }

  func putRegistration(
    _ id: String, user: UserID, _ change: RegistrationChange
  ) async throws -> RegistrationResult {
    let now = now()
    return try await database.write { connection in
      try connection.putRegistration(id, user: user, change, at: now)
    }
  }

  func removeRegistration(_ id: String, user: UserID?) async throws -> Bool {
    try await database.write { connection in
      let owners = try connection.column(
        "DELETE FROM registration WHERE id = ?1 AND (user = ?2 OR ?2 IS NULL) RETURNING user", id,
        user, as: UserID.self)
      connection.effects.add(owners.map(Effect.credentialsEnded))
      return !owners.isEmpty
    }
  }

  func registrations(
    ofUser user: UserID, after id: String, limit: Int
  ) throws -> [DeviceRegistration] {
    try database.all(
      """
      SELECT \(DeviceRegistration.columns)
      FROM registration WHERE user = ? AND id > ? ORDER BY id LIMIT ?
      """, user, id, max(0, limit)
    ) { row in try DeviceRegistration(&row) }
  }

  func silentRegistrations(
    since time: Date, after id: String, limit: Int
  ) throws -> [(user: String, registration: DeviceRegistration)] {
    try database.all(
      """
      SELECT \(DeviceRegistration.columns), (SELECT user.name FROM user WHERE user.id = registration.user)
      FROM registration WHERE id > ?2 AND \(Self.isSilent) ORDER BY id LIMIT ?3
      """, time, id, max(0, limit)
    ) { row in
      let registration = try DeviceRegistration(&row)
      return (try row.next(String?.self) ?? "", registration)
    }
  }

  func endSilentRegistrations(since time: Date) async throws -> Int {
    try await database.run(
      "UPDATE registration SET ended = ?2, ended_by = ?3 WHERE \(Self.isSilent)", time, now(),
      RefusalRule.silence)
  }

  /// Whether the device of a registration has not been heard of since `?1`.
  private static let isSilent = """
    ended IS NULL AND coalesce(contact, updated) < ?1 AND id NOT IN (
      SELECT registration FROM device_receipt WHERE fetched >= ?1 OR read >= ?1)
    """
}

extension DeviceRegistration {
  fileprivate static let columns = """
    registration.id, registration.user, platform, handle, updated, (
      SELECT json_group_array(tag) FROM (
        SELECT tag FROM registration_tag WHERE registration = registration.id ORDER BY tag)),
    name, created, credential, user_agent, contact, ended
    """

  fileprivate init(_ row: inout Row) throws {
    try self.init(
      id: row.next(), user: row.next(), platform: row.next(), handle: row.next(),
      updated: row.next(), tags: row.next(StringList.self).items, name: row.next(),
      origin: RegistrationOrigin(
        created: row.next(), credential: row.next(), userAgent: row.next()),
      lastContact: row.next(), ended: row.next())
  }
}

extension SQLiteConnection {
  fileprivate func putRegistration(
    _ id: String, user: UserID, _ change: RegistrationChange, at now: Date
  ) throws -> RegistrationResult {
    let known = try first(
      "SELECT user, platform, ended IS NULL FROM registration WHERE id = ?", id
    ) { row in
      (
        owner: try row.next(UserID.self), platform: try row.next(String?.self),
        isCurrent: try row.next(Bool.self)
      )
    }
    // A user who was removed meanwhile must not leave a registration tagged with the name.
    guard known == nil || known?.owner == user, try isUser(user) else { return .notOwn }
    if change.isRenewal, known?.platform ?? change.platform != change.platform || known == nil {
      return .notRenewable
    }
    let former = try first(
      """
      SELECT registration.id, user.id, user.name, platform
      FROM registration JOIN user ON user.id = registration.user
      WHERE handle = ? AND user.id <> ? AND ended IS NULL
      """, change.handle, user
    ) { row in
      let registration = try row.next(String.self)
      return (
        owner: FormerOwner(
          user: try row.next(), name: try row.next(), registration: registration),
        platform: try row.next(String?.self)
      )
    }
    if let former, former.platform ?? change.platform != change.platform {
      return .handleTaken
    }
    // The other user's devices are told.
    if former != nil { try countOwnNotification(of: user, at: now) }
    let ended: [UserID] = try column(
      "DELETE FROM registration WHERE handle = ? AND id <> ? RETURNING user", change.handle, id)
    effects.add(ended.map(Effect.credentialsEnded))
    if let former {
      try run(
        "INSERT INTO event(type, publisher, data, created) VALUES ('device', ?, ?, ?)",
        former.owner.user, former.owner.event, now)
    }
    if known?.isCurrent != true { try requireDeviceQuota(of: user) }
    if known != nil {
      // A device that registers again is known to its service, whatever was refused before.
      try sendAgain(
        try column(
          "SELECT id FROM job WHERE state = 'queued' AND refused IS NOT NULL AND registration = ?",
          id), at: now)
    }
    if let lane = change.lane {
      try requireServiceQuota(of: user, for: lane, of: id)
      try run(
        """
        UPDATE job SET lane = ?2 WHERE registration = ?1 AND state = 'queued' AND lane <> ?2
          AND lane = (SELECT lane FROM registration WHERE id = ?1)
        """, id, lane)
      effects.add(.jobs(lane: lane))
    }
    try run(
      """
      INSERT INTO registration(
        id, user, platform, handle, updated, keys, lane, name, created, credential, user_agent, contact)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?5, ?9, ?10, ?5)
      ON CONFLICT (id) DO UPDATE SET platform = excluded.platform, handle = excluded.handle,
        updated = excluded.updated, keys = excluded.keys, lane = excluded.lane,
        name = coalesce(excluded.name, name), contact = excluded.contact,
        ended = NULL, ended_by = NULL
      """, id, user, change.platform, change.handle, now, change.keys, change.lane, change.name,
      change.origin.credential, change.origin.userAgent)
    try run("DELETE FROM registration_tag WHERE registration = ?", id)
    for tag in change.tags {
      try run("INSERT INTO registration_tag VALUES (?, ?) ON CONFLICT DO NOTHING", tag, id)
    }
    return .stored(endedOf: former?.owner)
  }
}

// MARK: - Tokens of devices

extension SQLiteTables {
  func addToken(_ hash: Digest, to registration: String, user: UserID) async throws -> Bool {
    let now = now()
    return try await database.write { connection in
      // Its time is later than that of every other, also of one from the same millisecond.
      let added = try connection.run(
        """
        INSERT INTO device_token(hash, registration, created)
        SELECT ?1, id, max(?2, coalesce(
          (SELECT max(created) + 1 FROM device_token WHERE registration = ?3), 0))
        FROM registration WHERE id = ?3 AND user = ?4
        """, hash, now, registration, user)
      let removed = try connection.run(
        """
        DELETE FROM device_token WHERE registration = ?1 AND hash NOT IN (
          SELECT hash FROM device_token WHERE registration = ?1 ORDER BY created DESC LIMIT 2)
        """, registration)
      if removed > 0 { connection.effects.add(.credentialsEnded(user)) }
      return added == 1
    }
  }

  func device(withToken hash: Digest, fetching notification: Int?) async throws -> TokenDevice? {
    let found = try await database.readTogether { connection in
      try connection.first(Self.deviceWithToken, hash, notification) { row in
        let device = try TokenDevice(
          registration: row.next(), user: row.next(), name: row.next(), isFetchRecorded: row.next())
        return (device: device, contact: try row.next(Date?.self))
      }
    }
    guard let found else { return nil }
    recordContact(of: found.device.registration, after: found.contact)
    return found.device
  }

  private func recordContact(of registration: String, after last: Date?) {
    let now = now()
    if let last, now.timeIntervalSince(last) < DeviceRegistration.contactPrecision { return }
    database.writeSoon { connection in
      try connection.run(
        "UPDATE registration SET contact = ? WHERE id = ?", now, registration)
    }
  }

  private static let deviceWithToken = """
    SELECT registration.id, user.id, user.name, (
      \(isFetchRecorded("?2", user: "registration.user", device: "registration.id"))), contact
    FROM device_token JOIN registration ON registration.id = device_token.registration
      JOIN user ON user.id = registration.user
    WHERE device_token.hash = ?1
    """

  func removeTokens(of registration: String, user: UserID?) async throws -> Bool {
    try await database.write { connection in
      let owner = try connection.value(
        "SELECT user FROM registration WHERE id = ?1 AND (user = ?2 OR ?2 IS NULL)", registration,
        user, as: UserID.self)
      guard let owner else { return false }
      try connection.run("DELETE FROM device_token WHERE registration = ?", registration)
      connection.effects.add(.credentialsEnded(owner))
      return true
    }
  }
}

// MARK: - Audiences

extension SQLiteTables {
  func devices(matching clauses: [TagClause]) throws -> AudienceDevices {
    try database.read { connection in
      try clauses.reduce(into: AudienceDevices()) { devices, clause in
        devices = devices.union(try connection.devices(matching: clause))
      }
    }
  }

  func audience(
    named names: Set<String>, allowingPasswordless: Bool, matching clauses: [TagClause]
  ) async throws -> (users: [String: UserID], devices: AudienceDevices) {
    let users = try await userIDs(
      of: names, allowingPasswordless: allowingPasswordless, addingPasswordless: false)
    return (users, try devices(matching: clauses))
  }

  func tag(from first: String, below end: String) throws -> String? {
    try database.column(
      "SELECT tag FROM registration_tag WHERE tag >= ? AND tag < ? ORDER BY tag LIMIT 1", first,
      end,
      as: String.self
    ).first
  }

  func deviceCounts() throws -> [String: Int] {
    try database.dictionary(
      """
      SELECT platform, count(*) FROM registration
      WHERE platform IS NOT NULL AND ended IS NULL GROUP BY platform
      """)
  }
}

extension SQLiteConnection {
  func devices(matching clause: TagClause) throws -> AudienceDevices {
    let rarest = try clause.with.min { try count(of: $0) < count(of: $1) }
    let others = clause.with.filter { $0 != rarest }
    // CROSS JOIN fixes the order: SQLite's planner must not start with all registrations.
    var sql =
      if rarest == nil {
        "SELECT id, user, platform, lane FROM registration INDEXED BY registration_in_order WHERE ended IS NULL"
      } else {
        """
        SELECT id, user, platform, lane
        FROM registration_tag AS rarest
          CROSS JOIN registration INDEXED BY registration_in_order ON id = rarest.registration
        WHERE rarest.tag = ? AND ended IS NULL
        """
      }
    let hasTag = "EXISTS (SELECT 1 FROM registration_tag WHERE tag = ? AND registration = id)"
    for _ in others { sql += " AND " + hasTag }
    for _ in clause.without { sql += " AND NOT " + hasTag }
    let values = (rarest.map { [$0] } ?? []) + others + clause.without
    // The indexes have them in this order.
    sql += " ORDER BY \(rarest == nil ? "id" : "rarest.registration")"
    var devices = AudienceDevices()
    _ = try rows(sql, values: values, limit: .max) { row in
      devices.append(try row.next(), try row.next(), try row.next(), try row.next())
    }
    return devices
  }

  /// Enough to tell which tag is rare.
  private static var tagCountLimit: Int { 1000 }

  /// The number of devices with a tag, up to ``tagCountLimit``.
  private func count(of tag: String) throws -> Int {
    try value(
      "SELECT count(*) FROM (SELECT 1 FROM registration_tag WHERE tag = ? LIMIT ?)", tag,
      Self.tagCountLimit) ?? 0
  }
}
