import FoundationEssentials
import Primitives

extension EngineTables {
  func addWebhook(
    _ hash: Digest, _ name: String, _ scope: AccessTokenScope, template: String, secret: String?,
    of user: UserID
  ) async throws -> StoredWebhook? {
    let now = now()
    return try await database.write { transaction in
      try transaction.requireSpace()
      guard let id = try transaction.insertAccessToken(hash, name, scope, of: user, at: now) else {
        return nil
      }
      try transaction.run(
        "INSERT INTO webhook(token, template, secret) VALUES ($1, $2, $3)", id, template, secret)
      try transaction.audit(.webhookAdded, .webhook(id, of: user), at: now)
      return try transaction.webhook(id, of: nil)
    }
  }

  func webhooks(of user: UserID?) async throws -> [StoredWebhook] {
    try await database.read { connection in
      try connection.all(
        """
        \(StoredWebhook.selection) WHERE CAST($1 AS bigint) IS NULL OR user_id = $1
        ORDER BY access_token.id DESC
        """, user, read: StoredWebhook.init)
    }
  }

  func webhook(_ id: Int, of user: UserID?) async throws -> StoredWebhook? {
    try await database.read { try $0.webhook(id, of: user) }
  }

  func keep(
    _ post: WebhookPost, _ digest: Digest, reason: String, of webhook: Int
  ) async throws {
    let now = now()
    try await database.write { transaction in
      try transaction.requireSpace()
      // Locked, so that no two deliveries are counted at once.
      let owner = try transaction.value(
        "SELECT user_id FROM access_token JOIN webhook ON token = id WHERE id = $1", webhook,
        as: UserID.self)
      guard let owner, try transaction.lockQuota(of: owner) else { return }
      try transaction.run(
        """
        INSERT INTO webhook_delivery(webhook, digest, fields, body, reason, failed)
        VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT (webhook, digest) DO UPDATE SET reason = excluded.reason, failed = excluded.failed
        """, webhook, digest, StringList(post.fieldPairs), post.body, reason, now)
      try transaction.run(
        """
        DELETE FROM webhook_delivery WHERE webhook = $1 AND id NOT IN (
          SELECT id FROM webhook_delivery WHERE webhook = $1 ORDER BY failed DESC, id DESC LIMIT $2)
        """, webhook, UserQuota.failedDeliveries)
    }
  }

  func removeDelivery(_ digest: Digest, of webhook: Int) {
    database.writeSoon { transaction in
      try transaction.run(
        "DELETE FROM webhook_delivery WHERE webhook = $1 AND digest = $2", webhook, digest)
    }
  }

  func failedDeliveries(of webhook: Int) async throws -> [FailedDelivery] {
    try await database.read { connection in
      try connection.all(
        """
        SELECT id, fields, CAST(NULL AS text), reason, failed FROM webhook_delivery
        WHERE webhook = $1 ORDER BY failed DESC, id DESC
        """, webhook, read: FailedDelivery.init)
    }
  }

  func failedDelivery(_ id: Int, of webhook: Int) async throws -> FailedDelivery? {
    try await database.read { connection in
      try connection.first(
        "SELECT id, fields, body, reason, failed FROM webhook_delivery WHERE id = $1 AND webhook = $2",
        id, webhook, read: FailedDelivery.init)
    }
  }
}

extension Queryable {
  fileprivate func webhook(_ id: Int, of user: UserID?) throws -> StoredWebhook? {
    try first(
      """
      \(StoredWebhook.selection)
      WHERE access_token.id = $1 AND (CAST($2 AS bigint) IS NULL OR user_id = $2)
      """, id, user, read: StoredWebhook.init)
  }
}

extension StoredWebhook {
  fileprivate static let selection = """
    SELECT \(StoredAccessToken.columns), access_token.hash, template, secret,
      (SELECT count(*) FROM webhook_delivery WHERE webhook_delivery.webhook = webhook.token)
    \(StoredAccessToken.tables) JOIN webhook ON webhook.token = access_token.id
    """

  fileprivate init(_ row: inout some Row) throws {
    token = try StoredAccessToken(&row)
    (hash, template, secret) = (try row.next(), try row.next(), try row.next())
    failed = try row.next()
  }
}

extension WebhookPost {
  /// Names and values of the fields, in turn.
  fileprivate var fieldPairs: [String] {
    fields.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value] }
  }
}

extension FailedDelivery {
  fileprivate init(_ row: inout some Row) throws {
    id = try row.next()
    let pairs = try row.next(StringList.self).items
    let fields = stride(from: 0, to: pairs.count - 1, by: 2).map { (pairs[$0], pairs[$0 + 1]) }
    post = WebhookPost(
      fields: Dictionary(fields) { first, _ in first }, body: try row.next(String?.self))
    (reason, failed) = (try row.next(), try row.next())
  }
}
