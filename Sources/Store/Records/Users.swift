package import FoundationEssentials

/// What a user may do.
package enum Role: String, Sendable, CaseIterable, Column {
  /// Receives its own notifications.
  case device
  /// Creates notifications for others and uploads assets.
  case publisher
  /// May do everything.
  case admin
}

/// A user who can sign in.
package struct User: Sendable, Equatable {
  /// The number.
  package let id: UserID
  /// The name, unique among the users there are.
  package let name: String
  /// The password's hash as crypt(3) writes it.
  package let hash: String
  /// What the user may do.
  package let role: Role
  /// When the user was added.
  package let created: Date
}

extension Store {
  /// Adds a user; throws `conflict` if the name is taken.
  ///
  /// Removes a passwordless user of that name first.
  package func addUser(_ name: String, hash: String, role: Role) async throws {
    let now = now()
    try await database.write { connection in
      let passwordless = try connection.value(
        "SELECT id FROM user WHERE name = ? AND hash IS NULL", name, as: UserID.self)
      if let passwordless { try connection.remove(passwordless, at: now) }
      let added = try connection.run(
        """
        INSERT INTO user(name, hash, role, created) SELECT ?1, ?2, ?3, ?4
        WHERE NOT EXISTS (SELECT 1 FROM user WHERE name = ?1)
        """, name, hash, role, now)
      guard added == 1 else { throw StoreError(.conflict, "user “\(name)” already exists") }
      try connection.countUserChange()
    }
  }

  /// Replaces a user's password hash; false if there is no such user.
  package func setPassword(of name: String, hash: String) async throws -> Bool {
    try await database.write { connection in
      try connection.countUserChange()
      return try connection.run(
        "UPDATE user SET hash = ? WHERE name = ? AND hash IS NOT NULL", hash, name) == 1
    }
  }

  /// Removes a user with everything that belongs to it; false if there is no such user.
  ///
  /// The receipts of the user's notifications stay, without a name, because publishers have counted them.
  package func removeUser(_ name: String) async throws -> Bool {
    let now = now()
    return try await database.write { connection in
      let id = try connection.value("SELECT id FROM user WHERE name = ?", name, as: UserID.self)
      guard let id else { return false }
      try connection.remove(id, at: now)
      try connection.countUserChange()
      return true
    }
  }

  /// The user of that name, or nil.
  package func user(named name: String) throws -> User? {
    try database.all(
      "SELECT \(User.columns) FROM user WHERE name = ? AND hash IS NOT NULL", name, as: User.init
    ).first
  }

  /// All users by name, without passwordless ones.
  package func users() throws -> [User] {
    try database.all(
      "SELECT \(User.columns) FROM user WHERE hash IS NOT NULL ORDER BY name", as: User.init)
  }

  /// Whether a user with this number, passwordless or not, exists.
  package func isUser(_ id: UserID) throws -> Bool {
    try database.read { try $0.isUser(id) }
  }

  /// A number that changes whenever a user is added, changed or removed, except for passwordless ones.
  package func userChanges() throws -> Int {
    try database.value("SELECT next FROM counter WHERE name = 'user changes'") ?? 0
  }
}

// MARK: - Users without a password

/// In demo mode, any name may sign in; its data belongs to a user without a password.
extension Store {
  /// The number of the user of that name, or nil.
  package func userID(of name: String, allowingPasswordless: Bool) throws -> UserID? {
    try database.read { try $0.userID(of: name, allowingPasswordless: allowingPasswordless) }
  }

  /// The numbers of the users of these names.
  ///
  /// A name without a user is left out or, with `allowingPasswordless`, gets a passwordless user.
  package func userIDs(
    of names: Set<String>, allowingPasswordless: Bool
  ) async throws -> [String: UserID] {
    var ids: [String: UserID] = [:]
    try database.read { connection in
      for name in names {
        ids[name] = try connection.userID(of: name, allowingPasswordless: allowingPasswordless)
      }
    }
    let missing = names.filter { ids[$0] == nil }
    guard allowingPasswordless, !missing.isEmpty else { return ids }
    let now = now()
    let added = try await database.write { connection in
      try missing.sorted().map { name in
        try connection.run(
          """
          INSERT INTO user(name, role, created) SELECT ?1, 'device', ?2
          WHERE NOT EXISTS (SELECT 1 FROM user WHERE name = ?1)
          """, name, now)
        return (name, try connection.userID(of: name, allowingPasswordless: true))
      }
    }
    for (name, id) in added { ids[name] = id }
    return ids
  }

  /// Removes all passwordless users: outside demo mode a new user must not get what was sent to a
  /// passwordless one of the same name.
  package func removePasswordlessUsers() {
    let now = now()
    database.writeSoon { connection in
      let users: [UserID] = try connection.column("SELECT id FROM user WHERE hash IS NULL")
      for user in users { try connection.remove(user, at: now) }
    }
  }
}

extension User {
  fileprivate static let columns = "id, name, hash, role, created"
}

extension SQLiteConnection {
  func isUser(_ id: UserID) throws -> Bool {
    try value("SELECT 1 FROM user WHERE id = ?", id) ?? false
  }

  fileprivate func userID(of name: String, allowingPasswordless: Bool) throws -> UserID? {
    try value(
      "SELECT id FROM user WHERE name = ? AND (hash IS NOT NULL OR ?)", name, allowingPasswordless)
  }

  fileprivate func countUserChange() throws {
    try run("UPDATE counter SET next = next + 1 WHERE name = 'user changes'")
  }

  /// Removes a user and its rows; rows of `recipient` keep the number, which is never reused.
  fileprivate func remove(_ user: UserID, at now: Date) throws {
    try updateJobs(
      "UPDATE job SET state = 'cancelled', updated = ? WHERE state = 'queued' AND user = ?", now,
      user)
    try run(
      """
      DELETE FROM device_receipt
      WHERE user = ?1 AND notification IN (SELECT notification FROM recipient WHERE user = ?1)
      """, user)
    for owner in [
      "registration WHERE user", "push_event WHERE user", "event WHERE publisher",
      "idempotency WHERE sender", "user WHERE id",
    ] {
      try run("DELETE FROM \(owner) = ?", user)
    }
  }
}
