import FoundationEssentials
import Primitives

extension SQLiteTables {
  func addUser(_ name: String, hash: String, role: Role, maxDevices: Int?) async throws {
    let now = now()
    try await database.write { connection in
      let passwordless = try connection.value(
        "SELECT id FROM user WHERE name = ? AND hash IS NULL", name, as: UserID.self)
      if let passwordless { try connection.remove(passwordless, at: now) }
      let added = try connection.run(
        """
        INSERT INTO user(name, hash, role, created, max_devices) SELECT ?1, ?2, ?3, ?4, ?5
        WHERE NOT EXISTS (SELECT 1 FROM user WHERE name = ?1)
        """, name, hash, role, now, maxDevices)
      guard added == 1 else { throw StoreError(.conflict, "user “\(name)” already exists") }
    }
  }

  func setPassword(
    of name: String, hash: String, endingRegistrations: Bool
  ) async throws -> Bool {
    try await database.write { connection in
      let user = try connection.value(
        "UPDATE user SET hash = ? WHERE name = ? AND hash IS NOT NULL RETURNING id", hash, name,
        as: UserID.self)
      guard let user else { return false }
      try connection.endCredentials(of: user, endingRegistrations: endingRegistrations)
      return true
    }
  }

  func setMaxDevices(of name: String, to number: Int) async throws -> Bool {
    try await database.run("UPDATE user SET max_devices = ? WHERE name = ?", number, name) == 1
  }

  func maxDevices(of user: UserID) throws -> Int {
    try database.value(
      "SELECT coalesce(max_devices, ?) FROM user WHERE id = ?", UserQuota.devices, user)
      ?? UserQuota.devices
  }

  func removeUser(_ name: String) async throws -> Bool {
    let now = now()
    return try await database.write { try $0.removeUser(named: name, at: now) }
  }

  func user(named name: String) throws -> User? {
    try database.all(
      "SELECT \(User.columns) FROM user WHERE name = ? AND hash IS NOT NULL", name, as: User.init
    ).first
  }

  func userNames(
    from first: String, below end: String, includingPasswordless: Bool, limit: Int
  ) throws -> [String] {
    try database.column(
      """
      SELECT name FROM user WHERE name >= ? AND name < ? AND (hash IS NOT NULL OR ?)
      ORDER BY name LIMIT ?
      """, first, end, includingPasswordless, limit)
  }

  func users() throws -> [User] {
    try database.all(
      "SELECT \(User.columns) FROM user WHERE hash IS NOT NULL ORDER BY name", as: User.init)
  }

  func isUser(_ id: UserID) throws -> Bool {
    try database.read { try $0.isUser(id) }
  }
}

// MARK: - Users without a password

extension SQLiteTables {
  func userIDs(
    of names: Set<String>, allowingPasswordless: Bool, addingPasswordless: Bool
  ) async throws -> [String: UserID] {
    var ids: [String: UserID] = [:]
    try database.read { connection in
      for name in names {
        ids[name] = try connection.userID(of: name, allowingPasswordless: allowingPasswordless)
      }
    }
    let missing = names.filter { ids[$0] == nil }
    guard addingPasswordless, !missing.isEmpty else { return ids }
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

  func removePasswordlessUsers() {
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

  /// Removes the user of a name; false if there is none.
  func removeUser(named name: String, at now: Date) throws -> Bool {
    let id = try value("SELECT id FROM user WHERE name = ?", name, as: UserID.self)
    guard let id else { return false }
    try remove(id, at: now)
    return true
  }

  /// Removes a user and its rows; rows of `recipient` keep the number, which is never reused.
  fileprivate func remove(_ user: UserID, at now: Date) throws {
    try updateJobs(
      from: .queued, to: .cancelled,
      "UPDATE job SET state = 'cancelled', updated = ? WHERE state = 'queued' AND user = ?", now,
      user)
    try holdScheduled(of: user, at: now)
    try run(
      """
      DELETE FROM device_receipt
      WHERE user = ?1 AND notification IN (SELECT notification FROM recipient WHERE user = ?1)
      """, user)
    for owner in [
      "session WHERE user", "registration WHERE user", "push_event WHERE user",
      "event WHERE publisher",
      "idempotency WHERE sender", "user WHERE id",
    ] {
      try run("DELETE FROM \(owner) = ?", user)
    }
    effects.add(.credentialsEnded(user))
  }
}

// MARK: - Keys that sign links

extension SQLiteTables {
  func linkKeys() throws -> [LinkKey] {
    try database.all(
      "SELECT id, secret, created FROM link_key ORDER BY id DESC", as: LinkKey.init)
  }

  func addLinkKey() async throws -> Int {
    let now = now()
    let id = try await database.write { connection in
      connection.effects.add(.everything)
      return try connection.value(
        "INSERT INTO link_key(secret, created) VALUES (?, ?) RETURNING id",
        LinkKey.newSecret(), now, as: Int.self)
    }
    guard let id else { throw StoreError(.failed, "the key was not stored") }
    return id
  }

  func removeLinkKey(_ id: Int) async throws -> Bool {
    try await database.write { connection in
      connection.effects.add(.everything)
      return try connection.run(
        "DELETE FROM link_key WHERE id = ? AND id < (SELECT max(id) FROM link_key)", id) == 1
    }
  }
}

extension SQLiteTables {
  func vapidSecret() throws -> String {
    guard let secret: String = try database.value("SELECT secret FROM vapid_key") else {
      throw StoreError(.damaged, "the key of Web Push is missing")
    }
    return secret
  }
}

extension SQLiteConnection {
  /// Adds the first keys to a new database.
  func addFirstKeys() throws {
    // Its first digit is 1, because a key has to be below the order of its curve.
    try run(
      """
      INSERT INTO vapid_key SELECT 1, '1' || substr(?, 2), ?
      WHERE NOT EXISTS (SELECT 1 FROM vapid_key)
      """, LinkKey.newSecret(), Date())
    try run(
      "INSERT INTO link_key(secret, created) SELECT ?, ? WHERE NOT EXISTS (SELECT 1 FROM link_key)",
      LinkKey.newSecret(), Date())
  }
}
