import FoundationEssentials
import Primitives

extension EngineTables {
  func addUser(_ name: String, hash: String, role: Role, maxDevices: Int?) async throws {
    let now = now()
    try await database.write { transaction in
      let passwordless = try transaction.value(
        "SELECT id FROM users WHERE name = $1 AND hash IS NULL \(transaction.lock("FOR UPDATE"))",
        name, as: UserID.self)
      if let passwordless { try transaction.remove(passwordless, at: now) }
      let added = try transaction.value(
        """
        INSERT INTO users(name, hash, role, created, max_devices) VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT DO NOTHING RETURNING id
        """, name, hash, role, now, maxDevices, as: UserID.self)
      guard let added else { throw StoreError(.conflict, "user “\(name)” already exists") }
      try transaction.audit(.userAdded, .user(added), detail: role.rawValue, at: now)
    }
  }

  func setPassword(
    of name: String, hash: String, endingRegistrations: Bool
  ) async throws -> Bool {
    let now = now()
    return try await database.write { transaction in
      let user = try transaction.value(
        "UPDATE users SET hash = $1 WHERE name = $2 AND hash IS NOT NULL RETURNING id", hash, name,
        as: UserID.self)
      guard let user else { return false }
      try transaction.endCredentials(of: user, endingRegistrations: endingRegistrations)
      try transaction.endSignUp(of: user)
      try transaction.audit(.userPasswordChanged, .user(user), at: now)
      return true
    }
  }

  func changePassword(
    of user: UserID, from old: String, to hash: String, renewing session: SessionRenewal?
  ) async throws -> Bool {
    let now = now()
    return try await database.write { transaction in
      let role = try transaction.value(
        "SELECT role FROM users WHERE id = $1 AND hash = $2 \(transaction.lock("FOR UPDATE"))",
        user, old, as: Role.self)
      guard let role else { return false }
      if let session {
        let isCurrent = try transaction.value(
          "SELECT true FROM session WHERE hash = $1 AND user_id = $2", session.current, user,
          as: Bool.self)
        guard isCurrent == true else { return false }
      }
      try transaction.run("UPDATE users SET hash = $1 WHERE id = $2", hash, user)
      try transaction.endCredentials(of: user, endingRegistrations: false)
      try transaction.endSignUp(of: user)
      try transaction.audit(.userPasswordChanged, .user(user), at: now)
      if let session {
        let next = NewSession(hash: session.next, user: user, userAgent: session.userAgent)
        try transaction.insert(
          next, begunBy: nil, audited: .shown(.password, of: user, role), at: now)
      }
      return true
    }
  }

  func setMaxDevices(of name: String, to number: Int) async throws -> Bool {
    let now = now()
    return try await database.write { transaction in
      let user = try transaction.value(
        "UPDATE users SET max_devices = $1 WHERE name = $2 RETURNING id", number, name,
        as: UserID.self)
      guard let user else { return false }
      try transaction.audit(.userLimitChanged, .user(user), detail: "\(number)", at: now)
      return true
    }
  }

  func maxDevices(of user: UserID) async throws -> Int {
    try await database.read { connection in
      try connection.value(
        "SELECT coalesce(max_devices, $1) FROM users WHERE id = $2", UserQuota.devices, user)
    } ?? UserQuota.devices
  }

  func removeUser(_ name: String) async throws -> Bool {
    let now = now()
    return try await database.write { try $0.removeUser(named: name, at: now) }
  }

  func user(named name: String) async throws -> User? {
    try await database.read { connection in
      try connection.all(
        "SELECT \(User.columns) FROM users WHERE name = $1 AND hash IS NOT NULL", name,
        as: User.init
      ).first
    }
  }

  func userNames(
    from first: String, below end: String, includingPasswordless: Bool, limit: Int
  ) async throws -> [String] {
    try await database.read { connection in
      try connection.column(
        """
        SELECT name FROM users WHERE name >= $1 AND name < $2 AND (hash IS NOT NULL OR $3)
        ORDER BY name LIMIT $4
        """, first, end, includingPasswordless, limit)
    }
  }

  func names(of users: [UserID]) async throws -> [UserID: String] {
    try await database.read { connection in
      try connection.dictionary(
        "SELECT id, name FROM users WHERE id \(connection.isIn("$1"))", users)
    }
  }

  func users() async throws -> [User] {
    try await database.read { try $0.users() }
  }

  func isUser(_ id: UserID) async throws -> Bool {
    try await database.read { try $0.isUser(id) }
  }
}

extension Queryable {
  /// All users by name, without passwordless ones.
  func users() throws -> [User] {
    try all(
      "SELECT \(User.columns) FROM users WHERE hash IS NOT NULL ORDER BY name", as: User.init)
  }
}

// MARK: - Users without a password

extension EngineTables {
  func userIDs(
    of names: Set<String>, allowingPasswordless: Bool, addingPasswordless: Bool
  ) async throws -> [String: UserID] {
    if names.isEmpty { return [:] }
    let ids: [String: UserID] = try await database.read { connection in
      try connection.users(named: Array(names), allowingPasswordless: allowingPasswordless)
    }
    let missing = names.filter { ids[$0] == nil }.sorted()
    guard addingPasswordless, !missing.isEmpty else { return ids }
    let now = now()
    let added: [String: UserID] = try await database.write { transaction in
      for name in missing {
        try transaction.send(
          """
          INSERT INTO users(name, role, created) VALUES ($1, 'device', $2) ON CONFLICT DO NOTHING
          """, name, now)
      }
      return try transaction.users(named: missing, allowingPasswordless: true)
    }
    return ids.merging(added) { $1 }
  }

  func removePasswordlessUsers() {
    let now = now()
    database.writeSoon { transaction in
      let users: [UserID] = try transaction.column(
        "SELECT id FROM users WHERE hash IS NULL \(transaction.lock("FOR UPDATE"))")
      for user in users { try transaction.remove(user, at: now) }
    }
  }
}

extension User {
  fileprivate static let columns = "id, name, hash, role, created"
}

extension Queryable {
  func isUser(_ id: UserID) throws -> Bool {
    try value("SELECT true FROM users WHERE id = $1", id) ?? false
  }

  /// The numbers of users by their names.
  func users(named names: [String], allowingPasswordless: Bool) throws -> [String: UserID] {
    try dictionary(
      "SELECT name, id FROM users WHERE name \(isIn("$1")) AND (hash IS NOT NULL OR $2)", names,
      allowingPasswordless)
  }
}

extension Changing {
  /// Removes the user of a name; false if there is none.
  func removeUser(named name: String, at now: Date) throws -> Bool {
    let id = try value(
      "SELECT id FROM users WHERE name = $1 \(lock("FOR UPDATE"))", name, as: UserID.self)
    guard let id else { return false }
    try remove(id, at: now)
    try audit(.userRemoved, .user(id), at: now)
    return true
  }

  /// Removes a user and its rows; rows of `recipient` keep the number, which is never reused.
  func remove(_ user: UserID, at now: Date) throws {
    try updateJobs(
      from: .queued, to: .cancelled,
      """
      UPDATE job SET state = 'cancelled', updated = $1, reason = NULL
      WHERE state = 'queued' AND user_id = $2
      """, now, user)
    try holdScheduled(of: user, at: now)
    try run(
      """
      DELETE FROM device_receipt WHERE user_id = $1
        AND notification IN (SELECT notification FROM recipient WHERE user_id = $1)
      """, user)
    for owner in [
      "session WHERE user_id", "registration WHERE user_id", "push_event WHERE user_id",
      "interaction WHERE user_id", "event WHERE publisher", "idempotency WHERE sender",
      "users WHERE id",
    ] {
      try run("DELETE FROM \(owner) = $1", user)
    }
    effects.add(.credentialsEnded(user))
  }

  /// Ends a user's sessions and pairings, the tokens of the user's devices and, if asked to, the registrations.
  func endCredentials(of user: UserID, endingRegistrations: Bool) throws {
    try run(
      """
      DELETE FROM device_token
      WHERE registration IN (SELECT id FROM registration WHERE user_id = $1)
      """, user)
    try run("DELETE FROM session WHERE user_id = $1", user)
    try run("UPDATE pairing SET ended = 1 WHERE user_id = $1", user)
    if endingRegistrations { try run("DELETE FROM registration WHERE user_id = $1", user) }
    effects.add(.credentialsEnded(user))
  }
}

// MARK: - Keys that sign links

extension EngineTables {
  func linkKeys() async throws -> [LinkKey] {
    try await database.read { connection in
      try connection.all(
        "SELECT id, secret, created FROM link_key ORDER BY id DESC", as: LinkKey.init)
    }
  }

  func addLinkKey() async throws -> Int {
    let now = now()
    let id = try await database.write { transaction in
      transaction.effects.add(.everything)
      let id = try transaction.value(
        "INSERT INTO link_key(secret, created) VALUES ($1, $2) RETURNING id",
        LinkKey.newSecret(), now, as: Int.self)
      if let id { try transaction.audit(.linkKeyAdded, .key(id), at: now) }
      return id
    }
    guard let id else { throw StoreError(.failed, "the key was not stored") }
    return id
  }

  func removeLinkKey(_ id: Int) async throws -> Bool {
    let now = now()
    return try await database.write { transaction in
      transaction.effects.add(.everything)
      let isRemoved =
        try transaction.run(
          "DELETE FROM link_key WHERE id = $1 AND id < (SELECT max(id) FROM link_key)", id) == 1
      if isRemoved { try transaction.audit(.linkKeyRemoved, .key(id), at: now) }
      return isRemoved
    }
  }

  func vapidSecret() async throws -> String {
    let secret: String? = try await database.read { try $0.value("SELECT secret FROM vapid_key") }
    guard let secret else { throw StoreError(.unreadable, "the key of Web Push is missing") }
    return secret
  }
}

extension Queryable {
  /// Adds the first keys to a new database.
  func addFirstKeys() throws {
    // Its first digit is 1, because a key has to be below the order of its curve.
    try run(
      """
      INSERT INTO vapid_key SELECT 1, '1' || substr($1, 2), $2
      WHERE NOT EXISTS (SELECT 1 FROM vapid_key)
      """, LinkKey.newSecret(), Date())
    try run(
      """
      INSERT INTO link_key(secret, created) SELECT $1, $2
      WHERE NOT EXISTS (SELECT 1 FROM link_key)
      """, LinkKey.newSecret(), Date())
  }
}
