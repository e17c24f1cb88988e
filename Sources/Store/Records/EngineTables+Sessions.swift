import FoundationEssentials

extension EngineTables {
  func addSession(_ hash: Digest, user: UserID, userAgent: String) async throws -> Bool {
    let now = now()
    return try await database.write { transaction in
      let role = try transaction.value("SELECT role FROM users WHERE id = $1", user, as: Role.self)
      guard let role else { return false }
      let session = NewSession(hash: hash, user: user, userAgent: userAgent)
      try transaction.insert(
        session, begunBy: nil, audited: .shown(.password, of: user, role), at: now)
      return true
    }
  }

  func sessionUser(withToken hash: Digest) async throws -> SessionUser? {
    let now = now()
    let found = try await database.read { connection in
      try connection.first(
        """
        SELECT session.id, session.created, used, users.id, name, role, users.hash IS NULL
        FROM session JOIN users ON users.id = session.user_id
        WHERE session.hash = $1 AND session.created > $2
        """, hash, now - Session.lifetime
      ) { row in
        let (id, created, used): (Int, Date, Date) = (
          try row.next(), try row.next(), try row.next()
        )
        let user = SessionUser(
          session: id, expires: created + Session.lifetime, id: try row.next(),
          name: try row.next(), role: try row.next(), isPasswordless: try row.next())
        return (user: user, used: used)
      }
    }
    guard let found else { return nil }
    if now.timeIntervalSince(found.used) > Session.usePrecision {
      database.writeSoon { transaction in
        try transaction.run(
          "UPDATE session SET used = $1 WHERE id = $2", now, found.user.session)
      }
    }
    return found.user
  }

  func sessions(of user: UserID) async throws -> [Session] {
    let limit = now() - Session.lifetime
    return try await database.read { connection in
      try connection.all(
        """
        SELECT id, created, used, user_agent FROM session WHERE user_id = $1 AND created > $2
        ORDER BY id DESC
        """, user, limit, as: Session.init)
    }
  }

  func removeSession(_ id: Int, user: UserID) async throws -> Bool {
    let now = now()
    return try await database.write { transaction in
      guard
        try transaction.run("DELETE FROM session WHERE id = $1 AND user_id = $2", id, user) == 1
      else { return false }
      try transaction.audit(.sessionEnded, .session(id, of: user), at: now)
      transaction.effects.add(.credentialsEnded(user))
      return true
    }
  }

  func removeEndedSessions() async throws {
    let now = now()
    let limit = now - Session.lifetime
    try await database.write { transaction in
      let users = try transaction.column(
        "DELETE FROM session WHERE created <= $1 RETURNING user_id", limit, as: UserID.self)
      transaction.effects.add(users.map(Effect.credentialsEnded))
      try transaction.run(
        "DELETE FROM used_sign_in WHERE used <= $1", now - ProviderSignIn.memory)
    }
  }
}

/// A session that begins.
struct NewSession: Sendable {
  let hash: Digest
  let user: UserID
  let userAgent: String
}

extension Changing {
  /// Begins a session, by a sign-in at a provider if there was one; the user's oldest end if there are too many.
  func insert(
    _ session: NewSession, begunBy signIn: ProviderSignIn?, audited actor: AuditActor, at now: Date
  ) throws {
    let id = try value(
      """
      INSERT INTO session(
        hash, user_id, created, used, user_agent, issuer, provider_session, id_token)
      VALUES ($1, $2, $3, $3, $4, $5, $6, $7) RETURNING id
      """, session.hash, session.user, now, session.userAgent, signIn?.identity.issuer,
      signIn?.session, signIn?.token, as: Int.self)
    if let id { try audit(.sessionStarted, .session(id, of: session.user), by: actor, at: now) }
    let removed = try run(
      """
      DELETE FROM session WHERE user_id = $1 AND id NOT IN (
        SELECT id FROM session WHERE user_id = $1 ORDER BY id DESC LIMIT $2)
      """, session.user, Session.most)
    if removed > 0 { effects.add(.credentialsEnded(session.user)) }
  }
}
