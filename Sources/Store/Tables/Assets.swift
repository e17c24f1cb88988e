import FoundationEssentials

extension Store {
  /// Writes what is known about a file of the drop folder, new or not, and with it the event that
  /// tells of it, as the text of a JSON object.
  ///
  /// Waits a moment for its `company`: so many changes, with this one, are about to come. A blob that is
  /// not stored throws `missing`.
  package func putAsset(
    _ asset: Asset, event: String? = nil, company: Int = 1
  ) async throws {
    let updated = now()
    let blobs = blobs
    try await database.write(company: company, isUndoable: false) { connection in
      if let blob = asset.blob, !blobs.renew(blob) {
        throw StoreError(.missing, "the content of \(asset.name) is gone; add it again")
      }
      try connection.run(
        """
        INSERT INTO asset(\(Asset.columns), folded) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT DO UPDATE SET state = excluded.state, reason = excluded.reason,
          blob = excluded.blob, bytes = excluded.bytes, type = excluded.type,
          details = excluded.details, stamp = excluded.stamp, modified = excluded.modified,
          updated = excluded.updated
        """, asset.richType, asset.name, asset.state, asset.reason, asset.blob, asset.bytes,
        asset.type, asset.details, asset.stamp, asset.modified, updated, Asset.folded(asset.name))
      try connection.insertAssetEvent(event, created: updated)
    }
    if event != nil { assetObserver.tell(()) }
  }

  /// Ends the preparation of an asset; false when its file changed or went meanwhile.
  package func settleAsset(_ asset: Asset, event: String) async throws -> Bool {
    let updated = now()
    let isSettled = try await database.write { connection in
      let isSettled =
        try connection.run(
          """
          UPDATE asset SET state = ?, reason = ?, blob = ?, updated = ?
          WHERE rich_type = ? AND name = ? AND stamp = ? AND state = ?
          """, asset.state, asset.reason, asset.blob, updated, asset.richType, asset.name,
          asset.stamp,
          Asset.State.preparing) == 1
      if isSettled { try connection.insertAssetEvent(event, created: updated) }
      return isSettled
    }
    if isSettled { assetObserver.tell(()) }
    return isSettled
  }

  /// Calls `body` after something became of an asset in this process; it only hurries.
  ///
  /// A later observer replaces an earlier one.
  package func observeAssets(_ body: @escaping @Sendable () -> Void) {
    assetObserver.observe { body() }
  }

  /// The asset of that name, or nil.
  package func asset(_ richType: String, _ name: String) throws -> Asset? {
    try database.read { connection in
      try connection.first(
        "SELECT \(Asset.selection) FROM asset WHERE rich_type = ? AND name = ?", richType, name,
        read: Asset.init)
    }
  }

  /// The name of an asset that differs from `name` in nothing but case, or nil.
  package func assetName(like name: String, richType: String) throws -> String? {
    try database.read { connection in
      try connection.value(
        "SELECT name FROM asset WHERE rich_type = ? AND folded = ? AND name <> ? LIMIT 1",
        richType, Asset.folded(name), name)
    }
  }

  /// An asset with this content that was checked under a stamp with this ending, or nil.
  package func asset(
    _ richType: String, with blob: Digest, stampEnding ending: String
  ) throws -> Asset? {
    try database.read { connection in
      try connection.first(
        """
        SELECT \(Asset.selection) FROM asset
        WHERE blob = ? AND rich_type = ? AND substr(stamp, -length(?3)) = ?3 LIMIT 1
        """, blob, richType, ending, read: Asset.init)
    }
  }

  /// Forgets an asset; false when there is none of that name, or none with that stamp.
  ///
  /// Notifications keep its content. Waits a moment for its `company`, as ``putAsset(_:event:company:)``.
  package func removeAsset(
    _ richType: String, _ name: String, stamp: String? = nil, event: String? = nil,
    company: Int = 1
  ) async throws -> Bool {
    let moment = now()
    let isRemoved = try await database.write(company: company, isUndoable: false) { connection in
      let isRemoved =
        try connection.run(
          "DELETE FROM asset WHERE rich_type = ? AND name = ? AND stamp = coalesce(?, stamp)",
          richType, name, stamp) == 1
      if isRemoved { try connection.insertAssetEvent(event, created: moment) }
      return isRemoved
    }
    if isRemoved, event != nil { assetObserver.tell(()) }
    return isRemoved
  }
}

extension Connection {
  fileprivate func insertAssetEvent(_ data: String?, created: Date) throws {
    guard let data else { return }
    try run("INSERT INTO event(type, data, created) VALUES ('asset', ?, ?)", data, created)
  }
}
