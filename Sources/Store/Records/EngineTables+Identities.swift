import FoundationEssentials
import Primitives

extension EngineTables {
  func signIn(_ new: ProviderSignIn) async throws -> ProviderSignInResult {
    let now = now()
    return try await database.write { transaction in
      let isFirst = try transaction.run(
        "INSERT INTO used_sign_in(hash, used) VALUES ($1, $2) ON CONFLICT DO NOTHING",
        new.attempt, now)
      guard isFirst == 1 else { return .used }
      var found = try transaction.user(of: new.identity)
      if found == nil {
        // Two of the same person at once make one user.
        try transaction.waitForOthers("identity")
        found = try transaction.user(of: new.identity)
      }
      let isNew = found == nil
      if isNew {
        guard let name = new.newName else { return .unknown }
        guard let id = try transaction.addUser(name, of: new.identity, at: now) else {
          return .nameTaken(name)
        }
        found = (id, name, .device)
      }
      guard let user = found else { return .unknown }
      let isKept = user.role == .admin && user.name == new.keptAdmin
      let role = isKept ? user.role : new.role ?? user.role
      let actor = AuditActor.shown(.provider, of: user.id, role)
      if isNew { try transaction.audit(.userAdded, .user(user.id), by: actor, at: now) }
      if role != user.role {
        try transaction.run("UPDATE users SET role = $1 WHERE id = $2", role, user.id)
        if role == .device { try transaction.holdScheduled(of: user.id, at: now) }
        transaction.effects.add(.credentialsEnded(user.id))
        try transaction.audit(
          .userRoleChanged, .user(user.id), detail: role.rawValue, by: actor, at: now)
      }
      switch new.beginning {
      case .session(let hash, let userAgent):
        let session = NewSession(hash: hash, user: user.id, userAgent: userAgent)
        try transaction.insert(session, begunBy: new, audited: actor, at: now)
      case .pairing(let code):
        let pairing = try transaction.insertPairing(code, ofUserInQuota: user.id, at: now)
        try transaction.audit(
          .pairingAdded, .pairing(pairing.id, of: user.id), by: actor, at: now)
      }
      return .signedIn(user.id, name: user.name, isNew: isNew)
    }
  }

  func link(_ name: String, with identity: Identity) async throws -> Bool {
    let now = now()
    return try await database.write { transaction in
      try transaction.waitForOthers("identity")
      let user = try transaction.value(
        "SELECT id FROM users WHERE name = $1 AND hash IS NOT NULL \(transaction.lock("FOR UPDATE"))",
        name, as: UserID.self)
      guard let user else { return false }
      if let other = try transaction.user(of: identity) {
        guard other.id == user else {
          throw StoreError(.conflict, "this identity is linked with the user “\(other.name)”")
        }
        return true
      }
      let present = try transaction.value(
        "SELECT subject FROM provider_identity WHERE user_id = $1 AND issuer = $2", user,
        identity.issuer, as: String.self)
      if let present {
        throw StoreError(
          .conflict,
          "“\(name)” is linked with “\(present)” there; end that first: richpush user unlink \(name)"
        )
      }
      try transaction.insert(identity, of: user, at: now)
      try transaction.audit(.userLinked, .user(user), at: now)
      return true
    }
  }

  func unlink(_ name: String) async throws -> Bool {
    let now = now()
    return try await database.write { transaction in
      let user = try transaction.value(
        "SELECT id FROM users WHERE name = $1 \(transaction.lock("FOR UPDATE"))", name,
        as: UserID.self)
      guard let user,
        try transaction.run("DELETE FROM provider_identity WHERE user_id = $1", user) > 0
      else { return false }
      try transaction.endProviderSessions(of: user)
      try transaction.audit(.userUnlinked, .user(user), at: now)
      return true
    }
  }

  func identities(of users: [UserID]) async throws -> [UserID: [Identity]] {
    let found = try await database.read { connection in
      try connection.all(
        """
        SELECT user_id, issuer, subject FROM provider_identity
        WHERE user_id \(connection.isIn("$1")) ORDER BY issuer
        """, users
      ) { row in
        (
          user: try row.next(UserID.self),
          identity: Identity(issuer: try row.next(), subject: try row.next())
        )
      }
    }
    return Dictionary(grouping: found, by: \.user).mapValues { $0.map(\.identity) }
  }

  func providerToken(ofSession id: Int) async throws -> String? {
    try await database.read { connection in
      try connection.value(
        "SELECT coalesce(id_token, '') FROM session WHERE id = $1 AND issuer IS NOT NULL", id)
    }
  }

  func endSessions(
    at issuer: String, subject: String?, session: String?
  ) async throws -> Int {
    let now = now()
    return try await database.write { transaction in
      let ended: [Int: UserID] = try transaction.dictionary(
        """
        DELETE FROM session WHERE issuer = $1
          AND (CAST($2 AS text) IS NULL OR provider_session = $2
            OR (provider_session IS NULL AND CAST($3 AS text) IS NOT NULL))
          AND (CAST($3 AS text) IS NULL OR user_id = (
            SELECT user_id FROM provider_identity WHERE issuer = $1 AND subject = $3))
        RETURNING id, user_id
        """, issuer, session, subject)
      for (id, user) in ended.sorted(by: { $0.key < $1.key }) {
        transaction.effects.add(.credentialsEnded(user))
        try transaction.audit(
          .sessionEnded, .session(id, of: user), detail: "provider", at: now)
      }
      return ended.count
    }
  }
}

extension Changing {
  /// The user who is linked with an identity; both stay as they are until the end of the transaction.
  fileprivate func user(of identity: Identity) throws -> (id: UserID, name: String, role: Role)? {
    // The rows are locked in this order, as unlinking does.
    try first(
      """
      SELECT id, name, role FROM users JOIN provider_identity ON user_id = users.id
      WHERE issuer = $1 AND subject = $2 \(lock("FOR UPDATE"))
      """, identity.issuer, identity.subject
    ) { row in (try row.next(), try row.next(), try row.next()) }
  }

  /// Makes a user without a password; nil if the name is taken, also in other letters.
  fileprivate func addUser(
    _ name: String, of identity: Identity, at now: Date
  ) throws -> UserID? {
    let taken = try value(
      "SELECT true FROM users WHERE lower(name) = $1", name.lowercased(), as: Bool.self)
    guard taken == nil else { return nil }
    let added = try value(
      """
      INSERT INTO users(name, hash, role, created) VALUES ($1, $2, 'device', $3)
      ON CONFLICT DO NOTHING RETURNING id
      """, name, User.noPassword, now, as: UserID.self)
    guard let added else { return nil }
    try insert(identity, of: added, at: now)
    return added
  }

  fileprivate func insert(_ identity: Identity, of user: UserID, at now: Date) throws {
    try run(
      "INSERT INTO provider_identity(issuer, subject, user_id, created) VALUES ($1, $2, $3, $4)",
      identity.issuer, identity.subject, user, now)
  }

  fileprivate func endProviderSessions(of user: UserID) throws {
    try run("DELETE FROM session WHERE user_id = $1 AND issuer IS NOT NULL", user)
    effects.add(.credentialsEnded(user))
  }
}
