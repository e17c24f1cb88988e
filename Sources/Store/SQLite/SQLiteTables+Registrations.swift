import FoundationEssentials

extension SQLiteTables {
  func registration(forHandle handle: String, user: UserID) async throws -> String {
    let newID = String(UInt128.random(in: .min ... .max), radix: 16)
    let now = now()
    let (id, former) = try await database.write { connection in
      let former = try connection.column(
        "DELETE FROM registration WHERE handle = ? AND user <> ? RETURNING user", handle, user,
        as: UserID.self)
      try connection.run(
        """
        INSERT INTO registration(id, user, handle, updated) SELECT ?, user.id, ?, ? FROM user
        WHERE user.id = ? ON CONFLICT (handle) DO NOTHING
        """, newID, handle, now, user)
      let id = try connection.value(
        "SELECT id FROM registration WHERE handle = ?", handle, as: String.self)
      return (id ?? newID, former)
    }
    for user in former { observers.onCredentialsEnded(user) }
    return id
  }

  func putRegistration(
    _ id: String, user: UserID, platform: String, handle: String, tags: [String],
    keys: String?, lane: String?
  ) async throws -> Bool {
    let now = now()
    let former = try await database.write { connection -> [UserID]? in
      let owner = try connection.value(
        "SELECT user FROM registration WHERE id = ?", id, as: UserID.self)
      // A user who was removed meanwhile must not leave a registration tagged with the name.
      guard owner == nil || owner == user, try connection.isUser(user) else { return nil }
      let former = try connection.column(
        "DELETE FROM registration WHERE handle = ? AND id <> ? RETURNING user", handle, id,
        as: UserID.self)
      if let lane {
        try connection.run(
          """
          UPDATE job SET lane = ?2 WHERE registration = ?1 AND state = 'queued' AND lane <> ?2
            AND lane = (SELECT lane FROM registration WHERE id = ?1)
          """, id, lane)
      }
      try connection.run(
        """
        INSERT INTO registration(id, user, platform, handle, updated, keys, lane)
        VALUES (?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (id) DO UPDATE SET platform = excluded.platform, handle = excluded.handle,
          updated = excluded.updated, keys = excluded.keys, lane = excluded.lane
        """, id, user, platform, handle, now, keys, lane)
      try connection.run("DELETE FROM registration_tag WHERE registration = ?", id)
      for tag in tags {
        try connection.run(
          "INSERT INTO registration_tag VALUES (?, ?) ON CONFLICT DO NOTHING", tag, id)
      }
      return former
    }
    for user in former ?? [] { observers.onCredentialsEnded(user) }
    if former != nil, let lane { observers.onJobs([lane]) }
    return former != nil
  }

  func removeRegistration(_ id: String, user: UserID) async throws -> Bool {
    let isRemoved =
      try await database.run("DELETE FROM registration WHERE id = ? AND user = ?", id, user) == 1
    if isRemoved { observers.onCredentialsEnded(user) }
    return isRemoved
  }

  func registrations(ofUser user: UserID) throws -> [DeviceRegistration] {
    try database.all(
      """
      SELECT id, user, platform, handle, updated, (SELECT json_group_array(tag) FROM (
        SELECT tag FROM registration_tag WHERE registration = id ORDER BY tag))
      FROM registration WHERE user = ? ORDER BY updated DESC, id
      """, user
    ) { row in
      try DeviceRegistration(
        id: row.next(), user: row.next(), platform: row.next(), handle: row.next(),
        updated: row.next(), tags: row.next(StringList.self).items)
    }
  }
}

// MARK: - Tokens of devices

extension SQLiteTables {
  func addToken(_ hash: Digest, to registration: String, user: UserID) async throws -> Bool {
    let now = now()
    let (isAdded, hasReplaced) = try await database.write { connection in
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
      return (added == 1, removed > 0)
    }
    if hasReplaced { observers.onCredentialsEnded(user) }
    return isAdded
  }

  func device(withToken hash: Digest, fetching notification: Int?) async throws -> TokenDevice? {
    try await database.readTogether { connection in
      try connection.first(Self.deviceWithToken, hash, notification) { row in
        try TokenDevice(
          registration: row.next(), user: row.next(), name: row.next(), isFetchRecorded: row.next())
      }
    }
  }

  private static let deviceWithToken = """
    SELECT registration.id, user.id, user.name, (
      \(isFetchRecorded("?2", user: "registration.user", device: "registration.id")))
    FROM device_token JOIN registration ON registration.id = device_token.registration
      JOIN user ON user.id = registration.user
    WHERE device_token.hash = ?1
    """

  func removeTokens(of registration: String, user: UserID?) async throws -> Bool {
    let owner = try await database.write { connection -> UserID? in
      let owner = try connection.value(
        "SELECT user FROM registration WHERE id = ?1 AND (user = ?2 OR ?2 IS NULL)", registration,
        user, as: UserID.self)
      guard owner != nil else { return nil }
      try connection.run("DELETE FROM device_token WHERE registration = ?", registration)
      return owner
    }
    if let owner { observers.onCredentialsEnded(owner) }
    return owner != nil
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

  func deviceCounts() throws -> [String: Int] {
    try database.dictionary(
      "SELECT platform, count(*) FROM registration WHERE platform IS NOT NULL GROUP BY platform")
  }
}

extension SQLiteConnection {
  func devices(matching clause: TagClause) throws -> AudienceDevices {
    let rarest = try clause.with.min { try count(of: $0) < count(of: $1) }
    let others = clause.with.filter { $0 != rarest }
    // CROSS JOIN fixes the order: SQLite's planner must not start with all registrations.
    var sql =
      if rarest == nil {
        "SELECT id, user, platform, lane FROM registration INDEXED BY registration_in_order WHERE true"
      } else {
        """
        SELECT id, user, platform, lane
        FROM registration_tag AS rarest
          CROSS JOIN registration INDEXED BY registration_in_order ON id = rarest.registration
        WHERE rarest.tag = ?
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
