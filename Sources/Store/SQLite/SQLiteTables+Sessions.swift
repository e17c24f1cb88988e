import FoundationEssentials

extension SQLiteTables {
  func addSession(_ hash: Digest, user: UserID, userAgent: String) async throws -> Bool {
    let now = now()
    return try await database.write { connection in
      guard try connection.isUser(user) else { return false }
      try connection.run(
        """
        INSERT INTO session(hash, user, created, used, user_agent) VALUES (?1, ?2, ?3, ?3, ?4)
        """, hash, user, now, userAgent)
      let removed = try connection.run(
        """
        DELETE FROM session WHERE user = ?1 AND id NOT IN (
          SELECT id FROM session WHERE user = ?1 ORDER BY id DESC LIMIT ?2)
        """, user, Session.most)
      if removed > 0 { connection.effects.add(.credentialsEnded(user)) }
      return true
    }
  }

  func sessionUser(withToken hash: Digest) throws -> SessionUser? {
    let now = now()
    let found = try database.first(
      """
      SELECT session.id, session.created, used, user.id, name, role, user.hash IS NULL
      FROM session JOIN user ON user.id = session.user
      WHERE session.hash = ? AND session.created > ?
      """, hash, now - Session.lifetime
    ) { row in
      let (id, created, used): (Int, Date, Date) = (try row.next(), try row.next(), try row.next())
      let user = SessionUser(
        session: id, expires: created + Session.lifetime, id: try row.next(),
        name: try row.next(), role: try row.next(), isPasswordless: try row.next())
      return (user: user, used: used)
    }
    guard let found else { return nil }
    if now.timeIntervalSince(found.used) > Session.usePrecision {
      database.writeSoon { connection in
        try connection.run(
          "UPDATE session SET used = ? WHERE id = ?", now, found.user.session)
      }
    }
    return found.user
  }

  func sessions(of user: UserID) throws -> [Session] {
    try database.all(
      """
      SELECT id, created, used, user_agent FROM session WHERE user = ? AND created > ?
      ORDER BY id DESC
      """, user, now() - Session.lifetime, as: Session.init)
  }

  func removeSession(_ id: Int, user: UserID) async throws -> Bool {
    try await database.write { connection in
      guard try connection.run("DELETE FROM session WHERE id = ? AND user = ?", id, user) == 1
      else { return false }
      connection.effects.add(.credentialsEnded(user))
      return true
    }
  }

  func removeEndedSessions() async throws {
    let limit = now() - Session.lifetime
    try await database.write { connection in
      let users = try connection.column(
        "DELETE FROM session WHERE created <= ? RETURNING user", limit, as: UserID.self)
      connection.effects.add(users.map(Effect.credentialsEnded))
    }
  }
}
