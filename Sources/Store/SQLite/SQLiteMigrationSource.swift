import CSQLite

/// A SQLite database that is copied to another one; nobody can change it meanwhile.
struct SQLiteMigrationSource {
  private let connection: SQLiteConnection

  private init(connection: SQLiteConnection) { self.connection = connection }

  /// Opens a database, brings it to the present version, and locks it.
  ///
  /// Throws `newer` or `damaged` if it cannot be read, or rows in it refer to nothing.
  static func open(_ path: String) throws -> SQLiteMigrationSource {
    let connection = try SQLiteConnection.open(path, for: .writing)
    if try connection.value("PRAGMA user_version", as: Int.self) != SQLiteSchema.version {
      try SQLiteSchema.copyBeforeMigration(connection, at: path)
      try SQLiteSchema.migrate(connection) { try $0.addFirstKeys() }
    }
    // Without it, a command could change what has been copied.
    try connection.script("BEGIN IMMEDIATE")
    let dangling: [String] = try connection.column("PRAGMA foreign_key_check")
    if let table = dangling.first {
      throw StoreError(
        .damaged,
        "\(dangling.count) rows refer to nothing, the first of them in \(table); "
          + "see 'richpush store check'")
    }
    return SQLiteMigrationSource(connection: connection)
  }

  /// Every blob to which a record refers.
  func referencedBlobs() throws -> [Digest] { try connection.referencedBlobs() }

  /// Calls `body` with each row of a table that is copied.
  func forEachRow(of table: MigratedTable, _ body: (CopyLine) throws -> Void) throws {
    let (columns, condition) = (table.sourceColumns.joined(separator: ", "), table.condition)
    var line = CopyLine()
    _ = try connection.all(
      "SELECT \(columns) FROM \(table.name) WHERE \(condition ?? "true")"
    ) { row in
      line.set(row, columns: table.sourceColumns.indices)
      try body(line)
    }
  }

  /// Calls `body` with the first rows of a table after a key, in the order of keys; returns the last one's key.
  func forEachRow(
    of table: MigratedTable, after key: [String]?, limit: Int, _ body: (CopyLine) throws -> Void
  ) throws -> [String]? {
    let keys = table.key.joined(separator: ", ")
    let parameters = table.key.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
    let columns = table.key.count..<table.key.count + table.sourceColumns.count
    var line = CopyLine()
    var last: [String]?
    _ = try connection.rows(
      """
      SELECT \(([keys] + table.sourceColumns).joined(separator: ", ")) FROM \(table.name)
      WHERE \(table.condition ?? "true")\(key == nil ? "" : " AND (\(keys)) > (\(parameters))")
      ORDER BY \(keys) LIMIT \(limit)
      """, values: key ?? [], limit: .max
    ) { row in
      line.set(row, columns: columns)
      try body(line)
      last = try table.key.map { _ in try row.next() }
    }
    return last
  }

  /// The numbers from which the database goes on.
  func numbers() throws -> MigrationNumbers {
    var last: [String: Int] = try connection.dictionary("SELECT name, seq FROM sqlite_sequence")
    // Its numbers may be used again in SQLite, if the last ones were removed.
    last["push"] = try connection.value("SELECT max(id) FROM push", as: Int?.self) ?? nil
    return MigrationNumbers(
      notification: try connection.value(
        "SELECT next FROM counter WHERE name = $1", MigratedTable.notificationCounter) ?? 0,
      pushEvent: last["push_event"] ?? 0, event: last["event"] ?? 0,
      last: Dictionary(
        uniqueKeysWithValues: MigratedTable.numbered.map { ($0, last[$0] ?? 0) }))
  }
}

extension CopyLine {
  /// Replaces the line by columns of a row.
  fileprivate mutating func set(_ row: SQLiteRow, columns: Range<Int>) {
    removeAll()
    for index in columns {
      let index = Int32(index)
      switch sqlite3_column_type(row.statement, index) {
      case SQLITE_NULL: appendNull()
      case SQLITE_INTEGER: append(Int(sqlite3_column_int64(row.statement, index)))
      default:
        let text = sqlite3_column_text(row.statement, index)
        let count = Int(sqlite3_column_bytes(row.statement, index))
        append(UnsafeBufferPointer(start: text, count: count))
      }
    }
  }
}
