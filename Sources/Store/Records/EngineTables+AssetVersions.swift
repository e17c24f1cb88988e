import FoundationEssentials

extension StoredAssetVersion {
  /// What `init(_:)` reads, in its order.
  fileprivate static let columns =
    "rich_type, name, blob, type, bytes, modified, alt, focus, labels, ended"

  fileprivate init(_ row: inout some Row) throws {
    (richType, name, blob) = (try row.next(), try row.next(), try row.next())
    (type, bytes, modified) = (try row.next(), try row.next(), try row.next())
    (alt, focus) = (try row.next(), try row.next())
    (labels, ended) = (AssetRecord.labels(try row.next()), try row.next())
  }
}

extension Changing {
  /// Keeps the content of an asset that is about to be replaced by another, or removed; with a stamp, if it has that.
  ///
  /// None of the results is waited for: thousands of files may be examined at once.
  func keepVersion(
    _ richType: String, _ name: String, insteadOf: Digest?, stamp: String?, at now: Date
  ) throws {
    try send(
      """
      INSERT INTO asset_version(\(StoredAssetVersion.columns))
      SELECT rich_type, name, blob, type, bytes, modified, alt, CASE WHEN focus_of = blob THEN focus END,
        labels, CAST($1 AS bigint)
      FROM asset
      WHERE rich_type = $2 AND name = $3 AND blob IS NOT NULL
        AND blob <> coalesce(CAST($4 AS text), '') AND stamp = coalesce($5, stamp) \(lock("FOR UPDATE"))
      ON CONFLICT (rich_type, name, blob) DO UPDATE SET type = excluded.type, bytes = excluded.bytes,
        modified = excluded.modified, alt = excluded.alt, focus = excluded.focus,
        labels = excluded.labels, ended = excluded.ended
      """, now, richType, name, insteadOf, stamp)
    try send(
      """
      DELETE FROM asset_version
      WHERE rich_type = $1 AND name = $2 AND (blob = CAST($3 AS text) OR blob NOT IN (
        SELECT blob FROM asset_version WHERE rich_type = $1 AND name = $2
        ORDER BY ended DESC, blob LIMIT $4))
      """, richType, name, insteadOf, StoredAssetVersion.limit)
  }
}

extension Changing {
  /// Gives what an asset had before to another name, beside what that had.
  func moveVersions(_ richType: String, from name: String, to other: String) throws {
    try run(
      """
      DELETE FROM asset_version WHERE rich_type = $1 AND name = $2 AND blob IN (
        SELECT blob FROM asset_version WHERE rich_type = $1 AND name = $3)
      """, richType, other, name)
    try run(
      "UPDATE asset_version SET name = $1 WHERE rich_type = $2 AND name = $3", other, richType, name
    )
  }
}

extension EngineTables {
  func assetVersions(
    _ richType: String, with blob: Digest, endedAfter time: Date
  ) async throws -> [StoredAssetVersion] {
    try await database.read { connection in
      try connection.all(
        """
        SELECT \(StoredAssetVersion.columns) FROM asset_version AS version
        WHERE blob = $1 AND rich_type = $2 AND ended > $3 AND NOT EXISTS (
          SELECT 1 FROM asset
          WHERE asset.rich_type = version.rich_type AND asset.name = version.name)
        ORDER BY ended DESC, name LIMIT 10
        """, blob, richType, time, read: StoredAssetVersion.init)
    }
  }

  func assetVersions(
    _ richType: String, _ name: String, endedAfter time: Date
  ) async throws -> [StoredAssetVersion] {
    try await database.read { connection in
      try connection.all(
        """
        SELECT \(StoredAssetVersion.columns) FROM asset_version
        WHERE rich_type = $1 AND name = $2 AND ended > $3 ORDER BY ended DESC, blob
        """, richType, name, time, read: StoredAssetVersion.init)
    }
  }

  func removedAssets(
    endedAfter time: Date, limit: Int, after: AssetPosition?
  ) async throws -> [StoredAssetVersion] {
    try await database.read { connection in
      try connection.all(
        """
        SELECT \(StoredAssetVersion.columns) FROM asset_version AS version
        WHERE ended > $1 AND (ended < $2 OR ended = $2 AND (rich_type, name) > ($3, $4))
          AND NOT EXISTS (
            SELECT 1 FROM asset
            WHERE asset.rich_type = version.rich_type AND asset.name = version.name)
          AND NOT EXISTS (
            SELECT 1 FROM asset_version AS later
            WHERE later.rich_type = version.rich_type AND later.name = version.name
              AND (later.ended > version.ended OR later.ended = version.ended AND later.blob < version.blob))
        ORDER BY ended DESC, rich_type, name LIMIT $5
        """, time, after?.value ?? .max, after?.richType ?? "", after?.name ?? "", max(0, limit),
        read: StoredAssetVersion.init)
    }
  }
}
