import FoundationEssentials

extension EngineTables {
  func assetUses(
    _ richType: String, _ name: String, by sender: UserID?, before: Int?, limit: Int
  ) async throws -> StoredAssetUses {
    let own = sender == nil ? "CAST($5 AS bigint) IS NULL" : "sender = $5"
    return try await database.read { connection in
      let notifications = try connection.all(
        """
        SELECT \(SentNotification.columns)
        WHERE rich_type = $1 AND payload = $2 AND blob IS NOT NULL AND notification.id < $3 AND \(own)
        ORDER BY notification.id DESC LIMIT $4
        """, richType, name, before ?? .max, max(0, limit), sender, read: SentNotification.init)
      guard before == nil else {
        return StoredAssetUses(notifications: notifications, count: 0, drafts: [])
      }
      let count = try connection.value(
        """
        SELECT count(*) FROM notification WHERE rich_type = $1 AND payload = $2 AND blob IS NOT NULL
        """, richType, name, as: Int.self)
      let drafts = try connection.all(
        """
        SELECT \(StoredDraft.columns) WHERE asset = $1 ORDER BY updated DESC, draft.id DESC LIMIT $2
        """, richType + "/" + name, max(0, limit), read: StoredDraft.init)
      return StoredAssetUses(notifications: notifications, count: count ?? 0, drafts: drafts)
    }
  }
}

extension AssetRecord {
  /// The condition that nothing uses an asset, after others.
  static let isUnused = """

    AND NOT EXISTS (
      SELECT 1 FROM notification WHERE notification.rich_type = asset.rich_type
        AND payload = asset.name AND notification.blob IS NOT NULL)
    AND NOT EXISTS (
      SELECT 1 FROM draft WHERE draft.asset = asset.rich_type || '/' || asset.name)
    """
}
