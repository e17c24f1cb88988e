import FoundationEssentials

extension AssetRecord {
  /// The columns that are written.
  fileprivate static let columns =
    "rich_type, name, state, reason, blob, bytes, type, details, stamp, modified, updated"
  /// What `init(_:)` reads, in its order.
  fileprivate static let selection =
    columns + """
      , (SELECT other.name FROM asset AS other WHERE other.rich_type = asset.rich_type
         AND other.folded = asset.folded AND other.name <> asset.name ORDER BY other.name LIMIT 1)
      """

  fileprivate init(_ row: inout Row) throws {
    (richType, name, state) = (try row.next(), try row.next(), try row.next())
    (reason, blob, bytes) = (try row.next(), try row.next(), try row.next())
    (type, details, stamp) = (try row.next(), try row.next(), try row.next())
    (modified, updated, lookAlike) = (try row.next(), try row.next(), try row.next())
  }
}

// MARK: - Changes

extension SQLiteTables {
  func putAsset(
    _ asset: AssetRecord, event: String?, expectedBatch: Int
  ) async throws {
    let (now, blobs) = (now(), blobs)
    try await database.write(expectedBatch: expectedBatch, usesSavepoint: false) { connection in
      try connection.requireRenewed(asset.blob, in: blobs)
      try connection.run(
        """
        INSERT INTO asset(\(AssetRecord.columns), folded) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT DO UPDATE SET state = excluded.state, reason = excluded.reason,
          blob = excluded.blob, bytes = excluded.bytes, type = excluded.type,
          details = excluded.details, stamp = excluded.stamp, modified = excluded.modified,
          updated = excluded.updated
        """, asset.richType, asset.name, asset.state, asset.reason, asset.blob, asset.bytes,
        asset.type, asset.details, asset.stamp, asset.modified, now,
        AssetRecord.folded(asset.name))
      try connection.insertAssetEvent(event, created: now)
    }
  }

  func finishPreparing(_ asset: AssetRecord, event: String) async throws -> Bool {
    let now = now()
    return try await changeAsset(event: event) { connection in
      try connection.run(
        """
        UPDATE asset SET state = ?, reason = ?, blob = ?, updated = ?
        WHERE rich_type = ? AND name = ? AND stamp = ? AND state = ?
        """, asset.state, asset.reason, asset.blob, now, asset.richType, asset.name, asset.stamp,
        AssetRecord.State.preparing)
    }
  }

  func removeAsset(
    _ richType: String, _ name: String, stamp: String?, event: String?,
    expectedBatch: Int
  ) async throws -> Bool {
    try await changeAsset(event: event, expectedBatch: expectedBatch, usesSavepoint: false) {
      try $0.run(
        "DELETE FROM asset WHERE rich_type = ? AND name = ? AND stamp = coalesce(?, stamp)",
        richType, name, stamp)
    }
  }

  /// Makes a change that returns the number of rows it changed, with an event if that is 1.
  private func changeAsset(
    event: String?, expectedBatch: Int = 1, usesSavepoint: Bool = true,
    _ change: @escaping @Sendable (borrowing SQLiteConnection) throws -> Int
  ) async throws -> Bool {
    let now = now()
    return try await database.write(
      expectedBatch: expectedBatch, usesSavepoint: usesSavepoint
    ) { connection in
      guard try change(connection) == 1 else { return false }
      try connection.insertAssetEvent(event, created: now)
      return true
    }
  }
}

extension SQLiteConnection {
  fileprivate func insertAssetEvent(_ data: String?, created: Date) throws {
    guard let data else { return }
    try run("INSERT INTO event(type, data, created) VALUES ('asset', ?, ?)", data, created)
    effects.add(.assetEvent)
  }
}

extension SQLiteConnection {
  /// Folds the names of assets that a migration has left without a folded form.
  func foldAssetNames() throws {
    let names = try all("SELECT rich_type, name FROM asset WHERE folded = ''") { row in
      (try row.next(String.self), try row.next(String.self))
    }
    for (richType, name) in names {
      try run(
        "UPDATE asset SET folded = ? WHERE rich_type = ? AND name = ?", AssetRecord.folded(name),
        richType, name)
    }
  }
}

// MARK: - Files of other nodes, of which there are none

extension SQLiteTables {
  func addFileRemoval(_ removal: FileRemoval) {}

  func takeFileRemoval(_ richType: String, _ name: String, folder: String) -> FileRemoval? { nil }
}

// MARK: - Queries

extension SQLiteTables {
  func asset(_ richType: String, _ name: String) throws -> AssetRecord? {
    try database.first(
      "SELECT \(AssetRecord.selection) FROM asset WHERE rich_type = ? AND name = ?", richType,
      name, read: AssetRecord.init)
  }

  func asset(
    _ richType: String, with blob: Digest, stampEnding ending: String
  ) throws -> AssetRecord? {
    try database.first(
      """
      SELECT \(AssetRecord.selection) FROM asset
      WHERE blob = ? AND rich_type = ? AND substr(stamp, -length(?3)) = ?3 LIMIT 1
      """, blob, richType, ending, read: AssetRecord.init)
  }

  func assetNames(like name: String, richType: String) throws -> [String] {
    try database.column(
      """
      SELECT name FROM asset WHERE rich_type = ? AND folded = ? AND name <> ? AND state <> 'refused'
      ORDER BY name LIMIT 10
      """,
      richType, AssetRecord.folded(name), name)
  }

  func assets(
    richType: String?, state: AssetRecord.State?, limit: Int,
    after: (richType: String, name: String)?
  ) throws -> [AssetRecord] {
    try database.all(
      """
      SELECT \(AssetRecord.selection) FROM asset
      WHERE (rich_type, name) > (?, ?) AND rich_type BETWEEN ? AND ? AND state = coalesce(?, state)
      ORDER BY rich_type, name LIMIT ?
      """, after?.richType ?? "", after?.name ?? "", richType ?? "", richType ?? "\u{10FFFF}",
      state, max(0, limit), read: AssetRecord.init)
  }

  func assetCounts(richType: String?) throws -> [AssetRecord.State: Int] {
    // Without a condition SQLite counts the entries of the index on `state` and reads no row.
    let condition = richType == nil ? "?1 IS NULL" : "rich_type = ?1"
    return try database.dictionary(
      "SELECT state, count(*) FROM asset WHERE \(condition) GROUP BY state", richType)
  }

  func assetStamps(_ richType: String) throws -> [String: String] {
    try database.dictionary("SELECT name, stamp FROM asset WHERE rich_type = ?", richType)
  }

  func assetTypes() throws -> [String] {
    try database.column("SELECT DISTINCT rich_type FROM asset")
  }

  func preparingAssets(limit: Int) throws -> [AssetRecord] {
    try database.all(
      """
      SELECT \(AssetRecord.selection) FROM asset
      WHERE state = ? AND blob IS NOT NULL ORDER BY updated LIMIT ?
      """, AssetRecord.State.preparing, max(0, limit), read: AssetRecord.init)
  }
}
