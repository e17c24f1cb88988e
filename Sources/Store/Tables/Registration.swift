package import FoundationEssentials

/// A user's device: how to reach it, and the tags by which it is addressed.
package struct Registration: Sendable, Equatable {
  /// The id the device was given or chose.
  package let id: String
  /// The user the device belongs to.
  package let user: UserID
  /// The push service (`apns` …), or nil until the device has told it.
  package let platform: String?
  /// The push token; no other registration has it.
  package let handle: String
  /// The tags, sorted.
  package let tags: [String]
  /// When the device last registered.
  package let updated: Date
}

extension Store {
  /// The id of the user's registration with this handle, made when there is none.
  ///
  /// A handle belongs to one user at a time: another user's registration with it is removed.
  package func registration(forHandle handle: String, user: UserID) async throws -> String {
    let fresh = String(UInt128.random(in: .min ... .max), radix: 16)
    let updated = now()
    return try await database.write { connection in
      try connection.run(
        "DELETE FROM registration WHERE handle = ? AND user <> ?", handle, user)
      try connection.run(
        """
        INSERT INTO registration(id, user, handle, updated) SELECT ?, user.id, ?, ? FROM user
        WHERE user.id = ? ON CONFLICT (handle) DO NOTHING
        """, fresh, handle, updated, user)
      return try connection.value("SELECT id FROM registration WHERE handle = ?", handle) ?? fresh
    }
  }

  /// Writes a registration whole, new or not; false when the id is another user's, or the user was removed.
  ///
  /// Any other registration with this handle is removed, whoever had it.
  package func putRegistration(
    _ id: String, user: UserID, platform: String, handle: String, tags: [String]
  ) async throws -> Bool {
    let updated = now()
    return try await database.write { connection in
      let owner = try connection.value(
        "SELECT user FROM registration WHERE id = ?", id, as: UserID.self)
      // A user who was removed meanwhile must leave nothing that carries the name as a tag.
      guard owner == nil || owner == user, try connection.isUser(user) else { return false }
      try connection.run("DELETE FROM registration WHERE handle = ? AND id <> ?", handle, id)
      try connection.run(
        """
        INSERT INTO registration(id, user, platform, handle, updated) VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE
        SET platform = excluded.platform, handle = excluded.handle, updated = excluded.updated
        """, id, user, platform, handle, updated)
      try connection.run("DELETE FROM registration_tag WHERE registration = ?", id)
      for tag in tags {
        try connection.run(
          "INSERT INTO registration_tag VALUES (?, ?) ON CONFLICT DO NOTHING", tag, id)
      }
      return true
    }
  }

  /// Removes the user's registration; false when the user has none with this id.
  package func removeRegistration(_ id: String, user: UserID) async throws -> Bool {
    try await database.write { connection in
      try connection.run("DELETE FROM registration WHERE id = ? AND user = ?", id, user) == 1
    }
  }

  /// The user's registrations, the latest first.
  package func registrations(ofUser user: UserID) throws -> [Registration] {
    try database.read { connection in
      try connection.all(
        """
        SELECT id, user, platform, handle, updated FROM registration WHERE user = ?
        ORDER BY updated DESC, id
        """, user
      ) { row in try Registration(&row, on: connection) }
    }
  }
}

extension Registration {
  init(_ row: inout Row, on connection: borrowing Connection) throws {
    id = try row.next()
    user = try row.next()
    platform = try row.next()
    handle = try row.next()
    updated = try row.next()
    tags = try connection.all(
      "SELECT tag FROM registration_tag WHERE registration = ? ORDER BY tag", id
    ) { try $0.next() }
  }
}
