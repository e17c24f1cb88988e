package import FoundationEssentials

/// A row of the asset table: a file of the drop folder.
package struct AssetRecord: Sendable, Equatable {
  /// Whether an asset can be used.
  package enum State: String, Sendable, Column, CaseIterable {
    /// Usable by name.
    case ready
    /// Usable by name once its content is known; its renditions are being made.
    case preparing
    /// Not usable; the reason says why.
    case refused
  }

  /// The rich type: the name of its folder.
  package var richType: String
  /// The name of the file.
  package var name: String
  /// Whether it can be used.
  package var state: State
  /// Why it is refused, or what its author should know.
  package var reason: String?
  /// The content; it must have been added to `Store.blobs`.
  package var blob: Digest?
  /// The detected media type.
  package var type: String?
  /// The size of the file in bytes.
  package var bytes: Int
  /// When the file was last changed.
  package var modified: Date
  /// Identifies this version of the file without reading it (inode, size, times …).
  package var stamp: String
  /// What the plugin's `validate` returned, as JSON text.
  package var details: String?
  /// When the record last changed; set by the store.
  package fileprivate(set) var updated = Date(timeIntervalSince1970: 0)
  /// Another name of the same rich type that differs only in case; read, never written.
  package var caseVariant: String?

  /// Describes a file; the optional members can be set afterwards.
  package init(
    richType: String, name: String, state: State, bytes: Int, modified: Date, stamp: String
  ) {
    (self.richType, self.name, self.state) = (richType, name, state)
    (self.bytes, self.modified, self.stamp) = (bytes, modified, stamp)
  }
}

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

  /// A name in the form in which names that differ only in case are equal.
  package static func caseFolded(_ name: String) -> String { name.lowercased() }

  fileprivate init(_ row: inout Row) throws {
    (richType, name, state) = (try row.next(), try row.next(), try row.next())
    (reason, blob, bytes) = (try row.next(), try row.next(), try row.next())
    (type, details, stamp) = (try row.next(), try row.next(), try row.next())
    (modified, updated, caseVariant) = (try row.next(), try row.next(), try row.next())
  }
}

// MARK: - Changes

extension Store {
  /// Inserts or replaces an asset, and with it the event about it, as the text of a JSON object.
  ///
  /// `expectedBatch` is the number of such changes that are about to be made together. Throws `missing` if
  /// the blob is not stored.
  package func putAsset(
    _ asset: AssetRecord, event: String? = nil, expectedBatch: Int = 1
  ) async throws {
    let (now, blobs) = (now(), blobs)
    try await database.write(expectedBatch: expectedBatch, usesSavepoint: false) { connection in
      if let blob = asset.blob, !blobs.renew(blob) {
        throw StoreError(
          .missing, "the content of \(asset.name) was removed meanwhile; add it again")
      }
      try connection.run(
        """
        INSERT INTO asset(\(AssetRecord.columns), folded) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT DO UPDATE SET state = excluded.state, reason = excluded.reason,
          blob = excluded.blob, bytes = excluded.bytes, type = excluded.type,
          details = excluded.details, stamp = excluded.stamp, modified = excluded.modified,
          updated = excluded.updated
        """, asset.richType, asset.name, asset.state, asset.reason, asset.blob, asset.bytes,
        asset.type, asset.details, asset.stamp, asset.modified, now,
        AssetRecord.caseFolded(asset.name))
      try connection.insertAssetEvent(event, created: now)
    }
    if event != nil { onAssetEvent(()) }
  }

  /// Ends the preparation of an asset; false if its file was changed or removed meanwhile.
  package func finishPreparing(_ asset: AssetRecord, event: String) async throws -> Bool {
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

  /// Removes an asset; false if there is none of that name, or none with that stamp.
  ///
  /// Notifications keep its content. For `expectedBatch` see ``putAsset(_:event:expectedBatch:)``.
  package func removeAsset(
    _ richType: String, _ name: String, stamp: String? = nil, event: String? = nil,
    expectedBatch: Int = 1
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
    let isChanged = try await database.write(
      expectedBatch: expectedBatch, usesSavepoint: usesSavepoint
    ) { connection in
      guard try change(connection) == 1 else { return false }
      try connection.insertAssetEvent(event, created: now)
      return true
    }
    if isChanged, event != nil { onAssetEvent(()) }
    return isChanged
  }
}

extension SQLiteConnection {
  fileprivate func insertAssetEvent(_ data: String?, created: Date) throws {
    guard let data else { return }
    try run("INSERT INTO event(type, data, created) VALUES ('asset', ?, ?)", data, created)
  }
}

// MARK: - Queries

extension Store {
  /// The asset of that name, or nil.
  package func asset(_ richType: String, _ name: String) throws -> AssetRecord? {
    try database.first(
      "SELECT \(AssetRecord.selection) FROM asset WHERE rich_type = ? AND name = ?", richType,
      name, read: AssetRecord.init)
  }

  /// An asset with this content that was checked under a stamp with this ending, or nil.
  package func asset(
    _ richType: String, with blob: Digest, stampEnding ending: String
  ) throws -> AssetRecord? {
    try database.first(
      """
      SELECT \(AssetRecord.selection) FROM asset
      WHERE blob = ? AND rich_type = ? AND substr(stamp, -length(?3)) = ?3 LIMIT 1
      """, blob, richType, ending, read: AssetRecord.init)
  }

  /// The name of an asset that differs from `name` in case only, or nil.
  package func assetName(like name: String, richType: String) throws -> String? {
    try database.value(
      "SELECT name FROM asset WHERE rich_type = ? AND folded = ? AND name <> ? LIMIT 1",
      richType, AssetRecord.caseFolded(name), name)
  }

  /// Assets by rich type and name, of one type or all, in one state or any, after a given one, at most
  /// `limit`.
  package func assets(
    richType: String? = nil, state: AssetRecord.State? = nil, limit: Int,
    after: (richType: String, name: String)? = nil
  ) throws -> [AssetRecord] {
    try database.all(
      """
      SELECT \(AssetRecord.selection) FROM asset
      WHERE (rich_type, name) > (?, ?) AND rich_type BETWEEN ? AND ? AND state = coalesce(?, state)
      ORDER BY rich_type, name LIMIT ?
      """, after?.richType ?? "", after?.name ?? "", richType ?? "", richType ?? "\u{10FFFF}",
      state, max(0, limit), read: AssetRecord.init)
  }

  /// The number of assets by state, of one rich type or all; a state without any is left out.
  package func assetCounts(richType: String? = nil) throws -> [AssetRecord.State: Int] {
    // Without a condition SQLite counts the entries of the index on `state` and reads no row.
    let condition = richType == nil ? "?1 IS NULL" : "rich_type = ?1"
    return try database.dictionary(
      "SELECT state, count(*) FROM asset WHERE \(condition) GROUP BY state", richType)
  }

  /// The stamps of a rich type's assets by name, which a scan of the folder compares with.
  package func assetStamps(_ richType: String) throws -> [String: String] {
    try database.dictionary("SELECT name, stamp FROM asset WHERE rich_type = ?", richType)
  }

  /// The rich types that have assets.
  package func assetTypes() throws -> [String] {
    try database.column("SELECT DISTINCT rich_type FROM asset")
  }

  /// Assets with known content whose renditions are to be made, oldest first.
  package func preparingAssets(limit: Int) throws -> [AssetRecord] {
    try database.all(
      """
      SELECT \(AssetRecord.selection) FROM asset
      WHERE state = ? AND blob IS NOT NULL ORDER BY updated LIMIT ?
      """, AssetRecord.State.preparing, max(0, limit), read: AssetRecord.init)
  }
}
