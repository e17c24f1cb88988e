import FoundationEssentials

extension AssetRecord {
  /// The columns that are written.
  fileprivate static let postgresColumns =
    "rich_type, name, state, reason, blob, bytes, type, details, stamp, modified, updated"
  /// What `init(postgres:)` reads, in its order.
  fileprivate static let postgresSelection =
    postgresColumns + """
      , (SELECT other.name FROM asset AS other WHERE other.rich_type = asset.rich_type
         AND other.folded = asset.folded AND other.name <> asset.name ORDER BY other.name LIMIT 1)
      """

  fileprivate init(postgres row: inout PostgresRow) throws {
    self.init(
      richType: try row.next(), name: try row.next(), state: try row.next(), bytes: 0,
      modified: Date(timeIntervalSince1970: 0), stamp: "")
    (reason, blob, bytes) = (try row.next(), try row.next(), try row.next())
    (type, details, stamp) = (try row.next(), try row.next(), try row.next())
    (modified, updated, lookAlike) = (try row.next(), try row.next(), try row.next())
  }
}

// MARK: - Changes

extension PostgresTables {
  func putAsset(
    _ asset: AssetRecord, event: String?, expectedBatch: Int
  ) async throws {
    let (now, blobs) = (now(), blobs)
    try await database.write(expectedBatch: expectedBatch) { transaction in
      try transaction.requireRenewed(asset.blob, in: blobs)
      try transaction.run(
        """
        INSERT INTO asset(\(AssetRecord.postgresColumns), folded)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
        ON CONFLICT (rich_type, name) DO UPDATE SET state = excluded.state, reason = excluded.reason,
          blob = excluded.blob, bytes = excluded.bytes, type = excluded.type,
          details = excluded.details, stamp = excluded.stamp, modified = excluded.modified,
          updated = excluded.updated
        """, asset.richType, asset.name, asset.state, asset.reason, asset.blob, asset.bytes,
        asset.type, asset.details, asset.stamp, asset.modified, now,
        AssetRecord.folded(asset.name))
      transaction.insertAssetEvent(event, created: now)
    }
  }

  func finishPreparing(_ asset: AssetRecord, event: String) async throws -> Bool {
    let now = now()
    return try await changeAsset(event: event) { transaction in
      try transaction.run(
        """
        UPDATE asset SET state = $1, reason = $2, blob = $3, updated = $4
        WHERE rich_type = $5 AND name = $6 AND stamp = $7 AND state = $8
        """, asset.state, asset.reason, asset.blob, now, asset.richType, asset.name, asset.stamp,
        AssetRecord.State.preparing)
    }
  }

  func removeAsset(
    _ richType: String, _ name: String, stamp: String?, event: String?,
    expectedBatch: Int
  ) async throws -> Bool {
    try await changeAsset(event: event, expectedBatch: expectedBatch) {
      try $0.run(
        "DELETE FROM asset WHERE rich_type = $1 AND name = $2 AND stamp = coalesce($3, stamp)",
        richType, name, stamp)
    }
  }

  func addFileRemoval(_ removal: FileRemoval) async throws {
    try await database.run(
      """
      INSERT INTO file_removal(folder, rich_type, name, stamp) VALUES ($1, $2, $3, $4)
      ON CONFLICT (folder, rich_type, name) DO UPDATE SET stamp = excluded.stamp
      """, removal.folder, removal.richType, removal.name, removal.stamp)
  }

  func takeFileRemoval(
    _ richType: String, _ name: String, folder: String
  ) async throws -> FileRemoval? {
    let stamp = try await database.read { connection in
      try connection.value(
        "SELECT stamp FROM file_removal WHERE folder = $1 AND rich_type = $2 AND name = $3",
        folder, richType, name, as: String.self)
    }
    guard let stamp else { return nil }
    try await database.run(
      "DELETE FROM file_removal WHERE folder = $1 AND rich_type = $2 AND name = $3 AND stamp = $4",
      folder, richType, name, stamp)
    return FileRemoval(folder: folder, richType: richType, name: name, stamp: stamp)
  }

  /// Makes a change that returns the number of rows it changed, with an event if that is 1.
  private func changeAsset(
    event: String?, expectedBatch: Int = 1,
    _ change: @escaping @Sendable (PostgresTransaction) throws -> Int
  ) async throws -> Bool {
    let now = now()
    return try await database.write(expectedBatch: expectedBatch) { transaction in
      guard try change(transaction) == 1 else { return false }
      transaction.insertAssetEvent(event, created: now)
      return true
    }
  }
}

extension PostgresTransaction {
  fileprivate func insertAssetEvent(_ data: String?, created: Date) {
    guard let data else { return }
    collected.events.append(
      CollectedChanges.Event(
        type: "asset", publisher: nil, user: nil, notification: nil, data: data, time: created))
    effects.add(.assetEvent)
  }
}

extension PostgresConnection {
  /// Folds the names of assets that a migration has left without a folded form.
  func foldAssetNames() throws {
    let names = try all("SELECT rich_type, name FROM asset WHERE folded = ''") { row in
      (try row.next(String.self), try row.next(String.self))
    }
    for (richType, name) in names {
      try run(
        "UPDATE asset SET folded = $1 WHERE rich_type = $2 AND name = $3",
        AssetRecord.folded(name), richType, name)
    }
  }
}

// MARK: - Queries

extension PostgresTables {
  func asset(_ richType: String, _ name: String) async throws -> AssetRecord? {
    try await database.read { connection in
      try connection.first(
        """
        SELECT \(AssetRecord.postgresSelection) FROM asset WHERE rich_type = $1 AND name = $2
        """, richType, name, read: AssetRecord.init(postgres:))
    }
  }

  func asset(
    _ richType: String, with blob: Digest, stampEnding ending: String
  ) async throws -> AssetRecord? {
    try await database.read { connection in
      try connection.first(
        """
        SELECT \(AssetRecord.postgresSelection) FROM asset
        WHERE blob = $1 AND rich_type = $2 AND right(stamp, length($3)) = $3 LIMIT 1
        """, blob, richType, ending, read: AssetRecord.init(postgres:))
    }
  }

  func assetNames(like name: String, richType: String) async throws -> [String] {
    try await database.read { connection in
      try connection.column(
        """
        SELECT name FROM asset
        WHERE rich_type = $1 AND folded = $2 AND name <> $3 AND state <> 'refused'
        ORDER BY name LIMIT 10
        """,
        richType, AssetRecord.folded(name), name)
    }
  }

  func assets(
    richType: String?, state: AssetRecord.State?, limit: Int,
    after: (richType: String, name: String)?
  ) async throws -> [AssetRecord] {
    try await database.read { connection in
      try connection.all(
        """
        SELECT \(AssetRecord.postgresSelection) FROM asset
        WHERE (rich_type, name) > ($1, $2) AND rich_type BETWEEN $3 AND $4
          AND state = coalesce($5, state)
        ORDER BY asset.rich_type, asset.name LIMIT $6
        """, after?.richType ?? "", after?.name ?? "", richType ?? "", richType ?? "\u{10FFFF}",
        state, max(0, limit), read: AssetRecord.init(postgres:))
    }
  }

  func assetCounts(richType: String?) async throws -> [AssetRecord.State: Int] {
    try await database.read { connection in
      try connection.dictionary(
        """
        SELECT state, count(*) FROM asset WHERE $1::text IS NULL OR rich_type = $1 GROUP BY state
        """, richType)
    }
  }

  func assetStamps(_ richType: String) async throws -> [String: String] {
    try await database.read { connection in
      try connection.dictionary("SELECT name, stamp FROM asset WHERE rich_type = $1", richType)
    }
  }

  func assetTypes() async throws -> [String] {
    try await database.read { try $0.column("SELECT DISTINCT rich_type FROM asset ORDER BY 1") }
  }

  func preparingAssets(limit: Int) async throws -> [AssetRecord] {
    try await database.read { connection in
      try connection.all(
        """
        SELECT \(AssetRecord.postgresSelection) FROM asset
        WHERE state = $1 AND blob IS NOT NULL ORDER BY updated LIMIT $2
        """, AssetRecord.State.preparing, max(0, limit), read: AssetRecord.init(postgres:))
    }
  }
}
