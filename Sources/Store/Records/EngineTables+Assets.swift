import FoundationEssentials

extension AssetRecord {
  /// The columns that are written.
  fileprivate static let columns =
    "rich_type, name, state, reason, blob, bytes, type, details, stamp, modified, updated"
  /// What `init(_:)` reads, in its order.
  fileprivate static let selection =
    columns + """
      , alt, focus, focus_of, labels, (SELECT other.name FROM asset AS other WHERE other.rich_type = asset.rich_type
         AND other.folded = asset.folded AND other.name <> asset.name ORDER BY other.name LIMIT 1)
      """

  fileprivate init(_ row: inout some Row) throws {
    (richType, name, state) = (try row.next(), try row.next(), try row.next())
    (reason, blob, bytes) = (try row.next(), try row.next(), try row.next())
    (type, details, stamp) = (try row.next(), try row.next(), try row.next())
    (modified, updated) = (try row.next(), try row.next())
    (alt, focusPoint, focusContent) = (try row.next(), try row.next(), try row.next())
    labels = AssetRecord.labels(try row.next())
    lookAlike = try row.next()
  }
}

extension AssetRecord {
  /// The labels in a column.
  static func labels(_ text: String?) -> [String] {
    // By scalars: a label can begin with a combining mark.
    text?.unicodeScalars.split(separator: ",").map { String($0) } ?? []
  }

  /// The labels as a column has them.
  fileprivate var storedLabels: String? {
    labels.isEmpty ? nil : "," + labels.joined(separator: ",") + ","
  }
}

// MARK: - Changes

extension EngineTables {
  func putAsset(
    _ asset: AssetRecord, event: String?, audit: AuditAction?, by actor: AuditActor?,
    expectedBatch: Int
  ) async throws {
    let (now, blobs) = (now(), blobs)
    try await database.write(expectedBatch: expectedBatch) { transaction in
      try transaction.requireRenewed(asset.blob, in: blobs)
      try transaction.keepVersion(
        asset.richType, asset.name, insteadOf: asset.blob, stamp: nil, at: now)
      try transaction.put(asset, changing: asset.isDescribed ? .description : [], at: now)
      try transaction.insertAssetEvent(event, created: now)
      if let audit {
        try transaction.audit(audit, of: asset.richType, asset.name, by: actor, at: now)
      }
    }
  }

  func renameAsset(
    _ asset: AssetRecord, from name: String, event: String, removal: String
  ) async throws {
    let (now, blobs) = (now(), blobs)
    try await database.write { transaction in
      try transaction.requireRenewed(asset.blob, in: blobs)
      try transaction.run(
        "DELETE FROM asset WHERE rich_type = $1 AND name = $2", asset.richType, name)
      try transaction.moveVersions(asset.richType, from: name, to: asset.name)
      try transaction.keepVersion(
        asset.richType, asset.name, insteadOf: asset.blob, stamp: nil, at: now)
      // Another node may have found the file under its new name.
      try transaction.put(asset, changing: [.description, .labels], at: now)
      try transaction.insertAssetEvent(removal, created: now)
      try transaction.insertAssetEvent(event, created: now)
      try transaction.audit(
        .assetRenamed, of: asset.richType, asset.name, detail: name, at: now)
    }
  }

  func describe(
    _ asset: AssetRecord, insteadOf known: AssetRecord, event: String
  ) async throws -> Bool {
    let now = now()
    return try await changeAsset(
      known.richType, known.name, event: event, audit: .assetDescribed
    ) { transaction in
      try transaction.run(
        """
        UPDATE asset SET state = $1, reason = $2, updated = $3, alt = $4, focus = $5, focus_of = $6, labels = $13
        WHERE rich_type = $7 AND name = $8 AND stamp = $9 AND state = $10
          AND alt IS NOT DISTINCT FROM $11 AND focus IS NOT DISTINCT FROM $12
          AND labels IS NOT DISTINCT FROM $14
        """, asset.state, asset.reason, now, asset.alt, asset.focusPoint, asset.focusContent,
        known.richType, known.name, known.stamp, known.state, known.alt, known.focusPoint,
        asset.storedLabels, known.storedLabels)
    }
  }

  func finishPreparing(_ asset: AssetRecord, event: String) async throws -> Bool {
    let now = now()
    return try await changeAsset(
      asset.richType, asset.name, event: event, audit: nil
    ) { transaction in
      try transaction.run(
        """
        UPDATE asset SET state = $1, reason = $2, blob = $3, updated = $4
        WHERE rich_type = $5 AND name = $6 AND stamp = $7 AND state = $8
          AND alt IS NOT DISTINCT FROM $9 AND focus IS NOT DISTINCT FROM $10
          AND labels IS NOT DISTINCT FROM $11
        """, asset.state, asset.reason, asset.blob, now, asset.richType, asset.name, asset.stamp,
        AssetRecord.State.preparing, asset.alt, asset.focusPoint, asset.storedLabels)
    }
  }

  func removeAsset(
    _ richType: String, _ name: String, stamp: String?, event: String?,
    expectedBatch: Int
  ) async throws -> Bool {
    let now = now()
    return try await changeAsset(
      richType, name, event: event, audit: .assetRemoved, expectedBatch: expectedBatch
    ) { transaction in
      try transaction.keepVersion(richType, name, insteadOf: nil, stamp: stamp, at: now)
      return try transaction.run(
        "DELETE FROM asset WHERE rich_type = $1 AND name = $2 AND stamp = coalesce($3, stamp)",
        richType, name, stamp)
    }
  }

  /// Makes a change that returns the number of rows it changed; if that is 1, with an event and an entry of the audit log.
  private func changeAsset(
    _ richType: String, _ name: String, event: String?, audit: AuditAction?, expectedBatch: Int = 1,
    _ change: @escaping @Sendable (Database.Transaction) throws -> Int
  ) async throws -> Bool {
    let now = now()
    return try await database.write(expectedBatch: expectedBatch) { transaction in
      guard try change(transaction) == 1 else { return false }
      try transaction.insertAssetEvent(event, created: now)
      if let audit { try transaction.audit(audit, of: richType, name, at: now) }
      return true
    }
  }
}

/// What is said of an asset that is there already.
private struct SaidOfAsset: OptionSet {
  let rawValue: Int
  static let description = SaidOfAsset(rawValue: 1)
  static let labels = SaidOfAsset(rawValue: 2)
}

extension Changing {
  fileprivate func audit(
    _ action: AuditAction, of richType: String, _ name: String, detail: String? = nil,
    by actor: AuditActor? = nil, at now: Date
  ) throws {
    try audit(
      action, .asset(richType, name), detail: detail, by: actor, otherwise: .dropFolder, at: now)
  }

  /// Inserts or replaces an asset, of which what was said stays but for what is `changing`.
  fileprivate func put(_ asset: AssetRecord, changing: SaidOfAsset, at now: Date) throws {
    let description =
      changing.contains(.description)
      ? ", alt = excluded.alt, focus = excluded.focus, focus_of = excluded.focus_of" : ""
    let labels = changing.contains(.labels) ? ", labels = excluded.labels" : ""
    try run(
      """
      INSERT INTO asset(\(AssetRecord.columns), folded, ordered, alt, focus, focus_of, labels)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
      ON CONFLICT (rich_type, name) DO UPDATE SET state = excluded.state, reason = excluded.reason,
        blob = excluded.blob, bytes = excluded.bytes, type = excluded.type,
        details = excluded.details, stamp = excluded.stamp, modified = excluded.modified,
        updated = excluded.updated\(description)\(labels)
      """, asset.richType, asset.name, asset.state, asset.reason, asset.blob, asset.bytes,
      asset.type, asset.details, asset.stamp, asset.modified, now,
      AssetRecord.folded(asset.name), AssetRecord.ordered(asset.name), asset.alt,
      asset.focusPoint, asset.focusContent, asset.storedLabels)
  }

  fileprivate func insertAssetEvent(_ data: String?, created: Date) throws {
    guard let data else { return }
    try add(NewEvent(type: "asset", data: data, time: created))
    effects.add(.assetEvent)
  }
}

extension Queryable {
  /// Gives the names of assets their other forms that a migration has left without them.
  func foldAssetNames() throws {
    let names = try all("SELECT rich_type, name FROM asset WHERE folded = '' OR ordered = ''") {
      row in (try row.next(String.self), try row.next(String.self))
    }
    for (richType, name) in names {
      try run(
        "UPDATE asset SET folded = $1, ordered = $2 WHERE rich_type = $3 AND name = $4",
        AssetRecord.folded(name), AssetRecord.ordered(name), richType, name)
    }
  }
}

// MARK: - Queries

extension EngineTables {
  func asset(_ richType: String, _ name: String) async throws -> AssetRecord? {
    try await database.read { connection in
      try connection.first(
        """
        SELECT \(AssetRecord.selection) FROM asset WHERE rich_type = $1 AND name = $2
        """, richType, name, read: AssetRecord.init)
    }
  }

  func asset(
    _ richType: String, with blob: Digest, stampEnding ending: String
  ) async throws -> AssetRecord? {
    try await database.read { connection in
      try connection.first(
        """
        SELECT \(AssetRecord.selection) FROM asset
        WHERE blob = $1 AND rich_type = $2 AND substr(stamp, length(stamp) - length($3) + 1) = $3 LIMIT 1
        """, blob, richType, ending, read: AssetRecord.init)
    }
  }

  func assets(_ richType: String, with blob: Digest) async throws -> [AssetRecord] {
    try await database.read { connection in
      try connection.all(
        """
        SELECT \(AssetRecord.selection) FROM asset WHERE blob = $1 AND rich_type = $2 LIMIT 10
        """, blob, richType, read: AssetRecord.init)
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
    _ filter: AssetFilter, order: AssetOrder?, limit: Int, after: AssetPosition?
  ) async throws -> [AssetRecord] {
    let sort = AssetSort(order)
    return try await database.read { connection in
      // Names that look alike are looked for only for what is returned.
      try connection.rows(
        """
        SELECT \(AssetRecord.selection) FROM (
          SELECT * FROM asset
          WHERE rich_type BETWEEN $1 AND $2 AND state = coalesce($3, state)
            AND (CAST($5 AS text) IS NULL OR replace(labels, $5, '') <> labels)
            AND \(sort.isAfter(firstParameter: 6))\(filter.isUnused ? AssetRecord.isUnused : "")
          ORDER BY \(sort.columns) LIMIT $4) AS asset
        ORDER BY \(sort.columns)
        """,
        values: [
          filter.richType ?? "", filter.richType ?? "\u{10FFFF}", filter.state, max(0, limit),
          filter.label.map { ",\($0)," },
        ]
          + sort.values(after), limit: .max, read: AssetRecord.init)
    }
  }

  func assetCounts(richType: String?) async throws -> [AssetRecord.State: Int] {
    // Without a condition the entries of the index on `state` are counted, and no row is read.
    let condition = richType == nil ? "CAST($1 AS text) IS NULL" : "rich_type = $1"
    return try await database.read { connection in
      try connection.dictionary(
        """
        SELECT state, count(*) FROM asset WHERE \(condition) GROUP BY state
        """, richType)
    }
  }

  func assetLabels() async throws -> [String: Int] {
    let found: [String: Int] = try await database.read { connection in
      try connection.dictionary(
        "SELECT labels, count(*) FROM asset WHERE labels IS NOT NULL GROUP BY labels")
    }
    return found.reduce(into: [:]) { counts, found in
      for label in AssetRecord.labels(found.key) { counts[label, default: 0] += found.value }
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
        SELECT \(AssetRecord.selection) FROM asset
        WHERE state = $1 AND blob IS NOT NULL ORDER BY updated LIMIT $2
        """, AssetRecord.State.preparing, max(0, limit), read: AssetRecord.init)
    }
  }
}
