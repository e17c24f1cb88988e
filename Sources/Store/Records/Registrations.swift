package import FoundationEssentials

/// A row of the registration table: how to reach a user's device, and its tags.
package struct DeviceRegistration: Sendable, Equatable {
  /// The id that the server assigned or the device chose.
  package let id: String
  /// The user the device belongs to.
  package let user: UserID
  /// The push service (`apns` …), or nil until the device has named it.
  package let platform: String?
  /// The push token, unique among the registrations.
  package let handle: String
  /// When the device last registered.
  package let updated: Date
  /// The tags, sorted.
  package let tags: [String]
}

extension Store {
  /// The id of the user's registration with this handle; adds one if there is none.
  ///
  /// A handle belongs to one user at a time: another user's registration with it is removed.
  package func registration(forHandle handle: String, user: UserID) async throws -> String {
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

  /// Inserts or replaces a registration; false if the id is another user's, or the user was removed.
  ///
  /// Any other registration with this handle is removed.
  package func putRegistration(
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

  /// Removes the user's registration; false if the user has none with this id.
  package func removeRegistration(_ id: String, user: UserID) async throws -> Bool {
    try await database.run("DELETE FROM registration WHERE id = ? AND user = ?", id, user) == 1
  }

  /// The user's registrations, the last updated first.
  package func registrations(ofUser user: UserID) throws -> [DeviceRegistration] {
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

/// Matches registrations that have every tag of `with` and none of `without`.
package struct TagClause: Sendable, Hashable {
  /// The tags a registration must have.
  package let with: [String]
  /// The tags it must not have.
  package let without: [String]

  /// Matches registrations by their tags.
  package init(with: [String], without: [String] = []) {
    self.with = with
    self.without = without
  }
}

/// A registered device that matches an audience.
package struct AudienceDevice: Sendable, Hashable {
  /// The id of its registration.
  package let registration: String
  /// The user it belongs to.
  package let user: UserID
  /// The push service that reaches it, or nil until the device has named it.
  package let platform: String?
}

extension Store {
  /// The devices that match at least one of the clauses, each once, by registration id.
  ///
  /// The cost of a clause grows with the devices that have the rarest of its `with` tags, or with all
  /// devices if there is none.
  package func devices(matching clauses: [TagClause]) throws -> [AudienceDevice] {
    try database.read { connection in
      var devices: Set<AudienceDevice> = []
      for clause in clauses { devices.formUnion(try connection.devices(matching: clause)) }
      return devices.sorted { $0.registration < $1.registration }
    }
  }

  /// The number of devices by platform; the cost grows with the devices.
  package func deviceCounts() throws -> [String: Int] {
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
