import FoundationEssentials

extension Store {
  /// Writes what is known about a file of the drop folder, new or not.
  ///
  /// A blob that is not stored throws `missing`.
  package func putAsset(_ asset: Asset) async throws {
    let updated = now()
    let blobs = blobs
    try await database.write { connection in
      if let blob = asset.blob, !blobs.renew(blob) {
        throw StoreError(.missing, "the content of \(asset.name) is gone; add it again")
      }
      try connection.run(
        """
        INSERT INTO asset(\(Asset.columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT DO UPDATE SET state = excluded.state, reason = excluded.reason,
          blob = excluded.blob, bytes = excluded.bytes, type = excluded.type,
          details = excluded.details, stamp = excluded.stamp, modified = excluded.modified,
          updated = excluded.updated
        """, asset.richType, asset.name, asset.state, asset.reason, asset.blob, asset.bytes,
        asset.type, asset.details, asset.stamp, asset.modified, updated)
    }
  }

  /// The asset of that name, or nil.
  package func asset(_ richType: String, _ name: String) throws -> Asset? {
    try database.read { connection in
      try connection.first(
        "SELECT \(Asset.columns) FROM asset WHERE rich_type = ? AND name = ?", richType, name,
        read: Asset.init)
    }
  }

  /// Assets by rich type and name, of one type or of all, after a given one, at most `limit`.
  package func assets(
    richType: String? = nil, limit: Int, after: (richType: String, name: String)? = nil
  ) throws -> [Asset] {
    try database.read { connection in
      try connection.all(
        """
        SELECT \(Asset.columns) FROM asset
        WHERE (rich_type, name) > (?, ?) AND rich_type BETWEEN ? AND ?
        ORDER BY rich_type, name LIMIT ?
        """, after?.richType ?? "", after?.name ?? "", richType ?? "", richType ?? "\u{10FFFF}",
        max(0, limit), read: Asset.init)
    }
  }

  /// Forgets an asset; false when there is none of that name.
  ///
  /// Notifications keep its content.
  package func removeAsset(_ richType: String, _ name: String) async throws -> Bool {
    try await database.write { connection in
      try connection.run(
        "DELETE FROM asset WHERE rich_type = ? AND name = ?", richType, name) == 1
    }
  }
}
