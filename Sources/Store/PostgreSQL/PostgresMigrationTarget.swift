/// A PostgreSQL database into which records are copied; it notes how far the copy is.
///
/// While it has the table `unfinished_migration`, nothing else uses the database (``PostgresSchema``).
struct PostgresMigrationTarget {
  private let connection: PostgresConnection
  private let schema: String

  /// Connects to a database and keeps others from copying into it.
  init(_ url: String) throws {
    connection = try PostgresConnection(url, for: .maintenance)
    schema = try connection.value("SELECT current_schema()", as: String?.self).flatMap { $0 } ?? ""
    if schema.isEmpty {
      throw StoreError(.missing, "the database has no schema of that name: create it first")
    }
    // One that was killed holds the lock until its server's process has noticed.
    let deadline = ContinuousClock.now + .seconds(10)
    while try connection.value(
      "SELECT pg_try_advisory_lock(hashtextextended('richpush migrate ' || current_schema(), 0))")
      != true
    {
      guard ContinuousClock.now < deadline else {
        throw StoreError(.inUse, "another 'richpush store migrate' uses the database")
      }
      try connection.script("SELECT pg_sleep(0.1)")
    }
  }

  /// Creates the tables in an empty database, and notes what will be copied; checks that in others, it is the same.
  func begin(_ summaries: [TableSummary]) throws {
    let tables = try connection.column(
      """
      SELECT relname::text FROM pg_class
      WHERE relnamespace = quote_ident(current_schema())::regnamespace AND relkind IN ('r', 'p') ORDER BY relname
      """, as: String.self)
    if tables.isEmpty {
      try PostgresSchema.migrate(connection) { try $0.note(summaries) }
    }
    guard try PostgresSchema.isMigrationUnfinished(connection) else {
      let example = tables.prefix(3).joined(separator: ", ")
      throw StoreError(
        .conflict,
        "the database is not empty\(tables.isEmpty ? "" : " (it has \(example))"): "
          + "create one that no server has used")
    }
    let version = try connection.value("SELECT version FROM schema_version", as: Int.self)
    guard version == PostgresSchema.version else {
      throw StoreError(
        .conflict,
        "another version of richpush has begun to copy: remove the database and create it")
    }
    let noted = try connection.all(
      "SELECT rows, checksum FROM unfinished_migration ORDER BY number"
    ) { "\($0 as Int) \($1 as String)" }
    guard noted == summaries.map({ "\($0.rows) \($0.checksum)" }) else {
      throw StoreError(
        .conflict,
        "the data folder is not the one that was copied before, or has changed since: "
          + "remove the database and create it")
    }
  }

  /// The key up to which a table was copied, and its rows so far; nil for the key before the first.
  func position(of table: MigratedTable) throws -> (key: [String]?, rows: Int) {
    let row = try connection.first(
      "SELECT copied, to_json(last_key)::text FROM unfinished_migration WHERE name = $1",
      table.name
    ) { row in (try row.next(Int.self), try row.next(StringList?.self)) }
    return (row?.1?.items, row?.0 ?? 0)
  }

  /// Adds the rows that `body` writes, and notes the key that it returns, all of it or nothing; returns how many
  /// there were.
  func add(
    to table: MigratedTable, _ body: (CopyWriter) throws -> [String]?
  ) throws -> Int {
    try connection.script("BEGIN")
    do {
      var last: [String]?
      let count = try connection.copyIn(
        "COPY \(table.name)(\(table.targetColumns.joined(separator: ", "))) FROM STDIN"
      ) { last = try body($0) }
      try connection.run(
        """
        UPDATE unfinished_migration SET copied = copied + $1, last_key = coalesce($2, last_key)
        WHERE name = $3
        """, count, last, table.name)
      try connection.script("COMMIT")
      return count
    } catch {
      try? connection.script("ROLLBACK")
      throw error
    }
  }

  /// What a table contains.
  func summary(of table: MigratedTable, _ progress: (Int) -> Void) throws -> TableSummary {
    var summary = TableSummary()
    try connection.copyOut(
      "COPY \(table.name)(\(table.targetColumns.joined(separator: ", "))) TO STDOUT"
    ) { line in
      summary.add(line)
      progress(summary.rows)
    }
    return summary
  }

  /// Sets the numbers from which new rows go on, and reads the statistics by which queries are planned.
  func set(_ numbers: MigrationNumbers) throws {
    try connection.script("BEGIN")
    try connection.run(
      "SELECT setval('notification_id', $1, false)", numbers.notification)
    try connection.run(
      "UPDATE event_counter SET push_event = $1, event = $2", numbers.pushEvent, numbers.event)
    for (table, last) in numbers.last {
      try connection.run(
        "SELECT setval(pg_get_serial_sequence($1, 'id'), $2, $3)", table, max(last, 1), last > 0)
    }
    try connection.script("COMMIT")
    try connection.script(MigratedTable.all.map { "ANALYZE \($0.name);" }.joined())
  }

  /// The numbers from which the database goes on.
  func numbers() throws -> MigrationNumbers {
    var numbers = MigrationNumbers()
    numbers.notification =
      try connection.value(
        "SELECT last_value + CASE WHEN is_called THEN 1 ELSE 0 END FROM notification_id") ?? 0
    (numbers.pushEvent, numbers.event) =
      try connection.all("SELECT push_event, event FROM event_counter") {
        ($0 as Int, $1 as Int)
      }.first ?? (0, 0)
    for table in MigratedTable.numbered {
      numbers.last[table] = try connection.value(
        "SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM \(table)_id_seq")
    }
    return numbers
  }

  /// Gives the database free for use.
  func finish() throws { try connection.script("DROP TABLE unfinished_migration") }
}

extension PostgresConnection {
  /// Notes what will be copied.
  fileprivate func note(_ summaries: [TableSummary]) throws {
    try script(
      """
      CREATE TABLE unfinished_migration(
        number integer PRIMARY KEY, name text NOT NULL UNIQUE, rows bigint NOT NULL,
        checksum text NOT NULL, copied bigint NOT NULL DEFAULT 0, last_key text[]
      )
      """)
    for (number, (table, summary)) in zip(MigratedTable.all, summaries).enumerated() {
      try run(
        "INSERT INTO unfinished_migration(number, name, rows, checksum) VALUES ($1, $2, $3, $4)",
        number, table.name, summary.rows, summary.checksum)
    }
  }
}
