import FoundationEssentials
import Primitives

extension EngineTables {
  func addAccessToken(
    _ hash: Digest, _ name: String, _ scope: AccessTokenScope, of user: UserID
  ) async throws -> StoredAccessToken? {
    let now = now()
    return try await database.write { transaction in
      guard let id = try transaction.insertAccessToken(hash, name, scope, of: user, at: now) else {
        return nil
      }
      let reads = [scope.readsStatus ? "status" : nil, scope.readsAudit ? "audit" : nil]
        .compactMap(\.self).joined(separator: ", ")
      try transaction.audit(
        .tokenAdded, .token(id, of: user), detail: reads.isEmpty ? nil : reads, at: now)
      return try transaction.first(
        "SELECT \(StoredAccessToken.columns) \(StoredAccessToken.tables) WHERE access_token.id = $1",
        id,
        read: StoredAccessToken.init)
    }
  }

  func owner(ofAccessToken hash: Digest) async throws -> AccessTokenOwner? {
    let now = now()
    return try await database.read { connection in
      try connection.first(
        """
        SELECT access_token.id, \(AccessTokenScope.columns), users.id, users.name, role,
          users.hash IS NULL
        FROM access_token JOIN users ON users.id = access_token.user_id
        WHERE access_token.hash = $1 AND (expires IS NULL OR expires > $2)
        """, hash, now
      ) { row in
        AccessTokenOwner(
          token: try row.next(), scope: try AccessTokenScope(&row), user: try row.next(),
          name: try row.next(), role: try row.next(), isPasswordless: try row.next())
      }
    }
  }

  func accessTokens(of user: UserID?) async throws -> [StoredAccessToken] {
    try await database.read { connection in
      try connection.all(
        """
        SELECT \(StoredAccessToken.columns) \(StoredAccessToken.tables)
        WHERE (CAST($1 AS bigint) IS NULL OR user_id = $1) AND NOT \(AccessTokenScope.isWebhook)
        ORDER BY access_token.id DESC
        """, user, read: StoredAccessToken.init)
    }
  }

  func accessTokens(
    endingNear time: Date, notice: TimeInterval, share: Int, limit: Int
  ) async throws -> [StoredAccessToken] {
    try await database.read { connection in
      try connection.all(
        """
        SELECT \(StoredAccessToken.columns) \(StoredAccessToken.tables)
        WHERE expires BETWEEN $1 AND $2
          AND abs(expires - $3) <= (expires - access_token.created) / $4
        ORDER BY expires, access_token.id LIMIT $5
        """, time - notice, time + notice, time, share, limit, read: StoredAccessToken.init)
    }
  }

  func removeAccessToken(
    _ id: Int, of user: UserID?, isWebhook: Bool
  ) async throws -> Bool {
    let now = now()
    return try await database.write { transaction in
      let owner = try transaction.value(
        """
        DELETE FROM access_token WHERE id = $1 AND (CAST($2 AS bigint) IS NULL OR user_id = $2)
          AND \(isWebhook ? "" : "NOT ")\(AccessTokenScope.isWebhook)
        RETURNING user_id
        """, id, user, as: UserID.self)
      guard let owner else { return false }
      transaction.effects.add(.credentialsEnded(owner))
      try transaction.audit(
        isWebhook ? .webhookRemoved : .tokenRemoved,
        isWebhook ? .webhook(id, of: owner) : .token(id, of: owner), at: now)
      return true
    }
  }

  func recordUse(ofAccessToken id: Int, from address: String) {
    let now = now()
    database.writeSoon { transaction in
      try transaction.run(
        "UPDATE access_token SET used = $1, used_from = $2 WHERE id = $3", now, address, id)
    }
  }
}

extension Changing {
  /// Adds a token, and returns its number; nil if there is no such user.
  func insertAccessToken(
    _ hash: Digest, _ name: String, _ scope: AccessTokenScope, of user: UserID, at now: Date
  ) throws -> Int? {
    guard try lockQuota(of: user) else { return nil }
    let names = try column(
      "SELECT name FROM access_token WHERE user_id = $1", user, as: String.self)
    if names.contains(name) { throw StoreError.accessTokenExists(name) }
    if names.count >= UserQuota.accessTokens { throw StoreError.tooManyAccessTokens }
    let id = try value(
      """
      INSERT INTO access_token(
        user_id, name, hash, audience, receipts, assets, status, audit, rate, created, expires)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) RETURNING id
      """, user, name, hash, scope.to.map(StringList.init), scope.readsReceipts ? 1 : 0,
      scope.uploadsAssets ? 1 : 0, scope.readsStatus ? 1 : 0, scope.readsAudit ? 1 : 0,
      scope.rate, now, scope.expires, as: Int.self)
    guard let id else { throw StoreError(.failed, "the token was not stored") }
    return id
  }
}

extension AccessTokenScope {
  fileprivate static let columns = """
    audience, receipts = 1, assets = 1, status = 1, audit = 1, rate, expires, \(isWebhook)
    """
  /// Whether a row of access_token is a webhook's.
  fileprivate static let isWebhook =
    "EXISTS (SELECT 1 FROM webhook WHERE webhook.token = access_token.id)"

  fileprivate init(_ row: inout some Row) throws {
    let to: StringList? = try row.next()
    self.to = to?.items
    (readsReceipts, uploadsAssets) = (try row.next(), try row.next())
    (readsStatus, readsAudit) = (try row.next(), try row.next())
    (rate, expires, isWebhook) = (try row.next(), try row.next(), try row.next())
  }
}

extension StoredAccessToken {
  static let columns = """
    access_token.id, access_token.name, \(AccessTokenScope.columns), access_token.created, used,
      used_from, users.name
    """
  /// Where ``columns`` are.
  static let tables = "FROM access_token JOIN users ON users.id = access_token.user_id"

  init(_ row: inout some Row) throws {
    (id, name) = (try row.next(), try row.next())
    scope = try AccessTokenScope(&row)
    (created, used, address, user) = (
      try row.next(), try row.next(), try row.next(), try row.next()
    )
  }
}
