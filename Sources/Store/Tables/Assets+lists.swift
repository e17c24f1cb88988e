extension Store {
  /// Assets by rich type and name, of one type or of all, in one state or in any, after a given one,
  /// at most `limit`.
  package func assets(
    richType: String? = nil, state: Asset.State? = nil, limit: Int,
    after: (richType: String, name: String)? = nil
  ) throws -> [Asset] {
    try database.read { connection in
      try connection.all(
        """
        SELECT \(Asset.selection) FROM asset
        WHERE (rich_type, name) > (?, ?) AND rich_type BETWEEN ? AND ? AND state = coalesce(?, state)
        ORDER BY rich_type, name LIMIT ?
        """, after?.richType ?? "", after?.name ?? "", richType ?? "", richType ?? "\u{10FFFF}",
        state, max(0, limit), read: Asset.init)
    }
  }

  /// How many assets there are in each state, of one rich type or of all; a state without any is
  /// left out.
  package func assetCounts(richType: String? = nil) throws -> [Asset.State: Int] {
    let pairs = try database.read { connection in
      // Of all together an index tells it; no row is read.
      try connection.all(
        "SELECT state, count(*) FROM asset \(richType == nil ? "" : "WHERE rich_type = ?") GROUP BY state",
        values: richType.map { [$0] } ?? []
      ) { row in (try row.next(Asset.State.self), try row.next(Int.self)) }
    }
    return Dictionary(uniqueKeysWithValues: pairs)
  }

  /// The stamps of a rich type's assets by name: what a look at the folder compares with.
  package func assetStamps(_ richType: String) throws -> [String: String] {
    let pairs = try database.read { connection in
      try connection.all("SELECT name, stamp FROM asset WHERE rich_type = ?", richType) { row in
        (try row.next(String.self), try row.next(String.self))
      }
    }
    return Dictionary(uniqueKeysWithValues: pairs)
  }

  /// The rich types that have assets.
  package func assetTypes() throws -> [String] {
    try database.read { connection in
      try connection.all("SELECT DISTINCT rich_type FROM asset") { try $0.next(String.self) }
    }
  }

  /// Assets whose content is known and whose renditions are to be made, the oldest first.
  package func preparingAssets(limit: Int) throws -> [Asset] {
    try database.read { connection in
      try connection.all(
        """
        SELECT \(Asset.selection) FROM asset
        WHERE state = ? AND blob IS NOT NULL ORDER BY updated LIMIT ?
        """, Asset.State.preparing, max(0, limit), read: Asset.init)
    }
  }
}
