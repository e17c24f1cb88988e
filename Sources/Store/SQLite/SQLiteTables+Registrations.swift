import FoundationEssentials

extension SQLiteTables {
  func registration(forHandle handle: String, user: UserID) async throws -> String {
    let newID = String(UInt128.random(in: .min ... .max), radix: 16)
    let now = now()
    return try await database.write { connection in
      try connection.run(
        "DELETE FROM registration WHERE handle = ? AND user <> ?", handle, user)
      try connection.run(
        """
        INSERT INTO registration(id, user, handle, updated) SELECT ?, user.id, ?, ? FROM user
        WHERE user.id = ? ON CONFLICT (handle) DO NOTHING
        """, newID, handle, now, user)
      return try connection.value("SELECT id FROM registration WHERE handle = ?", handle) ?? newID
    }
  }

  func putRegistration(
    _ id: String, user: UserID, platform: String, handle: String, tags: [String]
  ) async throws -> Bool {
    let now = now()
    return try await database.write { connection in
      let owner = try connection.value(
        "SELECT user FROM registration WHERE id = ?", id, as: UserID.self)
      // A user who was removed meanwhile must not leave a registration tagged with the name.
      guard owner == nil || owner == user, try connection.isUser(user) else { return false }
      try connection.run("DELETE FROM registration WHERE handle = ? AND id <> ?", handle, id)
      try connection.run(
        """
        INSERT INTO registration(id, user, platform, handle, updated) VALUES (?, ?, ?, ?, ?)
        ON CONFLICT (id) DO UPDATE SET platform = excluded.platform, handle = excluded.handle, updated = excluded.updated
        """, id, user, platform, handle, now)
      try connection.run("DELETE FROM registration_tag WHERE registration = ?", id)
      for tag in tags {
        try connection.run(
          "INSERT INTO registration_tag VALUES (?, ?) ON CONFLICT DO NOTHING", tag, id)
      }
      return true
    }
  }

  func removeRegistration(_ id: String, user: UserID) async throws -> Bool {
    try await database.run("DELETE FROM registration WHERE id = ? AND user = ?", id, user) == 1
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

// MARK: - Audiences

extension SQLiteTables {
  func devices(matching clauses: [TagClause]) throws -> [AudienceDevice] {
    try database.read { connection in
      var devices: Set<AudienceDevice> = []
      for clause in clauses { devices.formUnion(try connection.devices(matching: clause)) }
      return devices.sorted { $0.registration < $1.registration }
    }
  }

  func deviceCounts() throws -> [String: Int] {
    try database.dictionary(
      "SELECT platform, count(*) FROM registration WHERE platform IS NOT NULL GROUP BY platform")
  }
}

extension SQLiteConnection {
  func devices(matching clause: TagClause) throws -> [AudienceDevice] {
    let rarest = try clause.with.min { try count(of: $0) < count(of: $1) }
    let others = clause.with.filter { $0 != rarest }
    // CROSS JOIN fixes the order: SQLite's planner must not start with all registrations.
    var sql =
      if rarest == nil {
        "SELECT id, user, platform FROM registration WHERE true"
      } else {
        """
        SELECT id, user, platform
        FROM registration_tag AS rarest CROSS JOIN registration ON id = rarest.registration
        WHERE rarest.tag = ?
        """
      }
    let hasTag = "EXISTS (SELECT 1 FROM registration_tag WHERE tag = ? AND registration = id)"
    for _ in others { sql += " AND " + hasTag }
    for _ in clause.without { sql += " AND NOT " + hasTag }
    let values = (rarest.map { [$0] } ?? []) + others + clause.without
    return try rows(sql, values: values, limit: .max) { try $0.decode(AudienceDevice.init) }
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
