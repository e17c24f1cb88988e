import CSQLite

/// One open SQLite database: statements are prepared once and kept; threads use it by turns.
struct Connection: ~Copyable {
  /// What a connection is for.
  enum Purpose {
    /// Queries only.
    case reading
    /// Everything; the database is made when there is none.
    case writing
    /// `VACUUM INTO`, which needs a connection that may write.
    case copying
  }

  /// The C handle, for the parts of SQLite that have no wrapper here.
  let handle: OpaquePointer
  private let statements = StatementCache()

  /// Opens the database at `path` with the settings every connection of the store has.
  static func open(_ path: String, for purpose: Purpose) throws(StoreError) -> Connection {
    var opened: OpaquePointer?
    let creation = purpose == .writing ? SQLITE_OPEN_CREATE : 0
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | creation
    let status = sqlite3_open_v2(path, &opened, flags, nil)
    guard status == SQLITE_OK, let opened else {
      let error = StoreError(opened, "open \(path)")
      sqlite3_close_v2(opened)
      throw error
    }
    let connection = Connection(handle: opened)
    sqlite3_busy_timeout(opened, 10_000)
    switch purpose {
    case .reading:
      try connection.script("PRAGMA query_only = ON")
    case .writing:
      // A statement's own journal, by which it alone can be undone, needs no file.
      try connection.script(
        """
        PRAGMA journal_mode = WAL; PRAGMA journal_size_limit = 67108864;
        PRAGMA temp_store = MEMORY
        """)
    case .copying:
      break
    }
    // In WAL mode only FULL syncs at every commit.
    try connection.script("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON")
    return connection
  }

  private init(handle: OpaquePointer) {
    self.handle = handle
  }

  deinit {
    statements.finalizeAll()
    sqlite3_close_v2(handle)
  }

  /// Whether a transaction is open; SQLite closes it by itself when the disk is full.
  var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

  /// How many rows were changed since it was opened.
  var changes: Int64 { sqlite3_total_changes64(handle) }

  /// Runs statements that take no values and whose rows nobody reads (`sqlite3_exec`).
  func script(_ sql: String) throws(StoreError) {
    guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else {
      throw StoreError(handle, "run \(sql.prefix(60))")
    }
  }

  /// Changes rows and returns how many.
  @discardableResult
  func run(_ sql: String, _ values: any Column...) throws -> Int {
    try withStatement(sql, values) { statement in
      while try step(statement) {}
    }
    return Int(sqlite3_changes64(handle))
  }

  /// The first row, or nil when there is none.
  func first<T>(_ sql: String, _ values: any Column..., read: (inout Row) throws -> T) throws -> T?
  {
    try withStatement(sql, values) { statement in
      guard try step(statement) else { return nil }
      var row = Row(statement)
      return try read(&row)
    }
  }

  /// Every row, in the order of the query.
  func all<T>(_ sql: String, _ values: any Column..., read: (inout Row) throws -> T) throws -> [T] {
    try all(sql, values: values, read: read)
  }

  /// Every row of a query whose number of values only the caller knows.
  func all<T>(
    _ sql: String, values: [any Column], read: (inout Row) throws -> T
  ) throws -> [T] {
    try withStatement(sql, values) { statement in
      var rows: [T] = []
      while try step(statement) {
        var row = Row(statement)
        rows.append(try read(&row))
      }
      return rows
    }
  }

  /// The first column of the first row, or nil when there is no row.
  func value<T: Column>(_ sql: String, _ values: any Column..., as type: T.Type = T.self) throws
    -> T?
  {
    try withStatement(sql, values) { statement in
      guard try step(statement) else { return nil }
      return try T.read(statement, at: 0)
    }
  }

  private func step(_ statement: OpaquePointer) throws(StoreError) -> Bool {
    switch sqlite3_step(statement) {
    case SQLITE_ROW: true
    case SQLITE_DONE: false
    default: throw StoreError(handle, "run a statement")
    }
  }

  private func withStatement<T>(
    _ sql: String, _ values: [any Column], _ body: (OpaquePointer) throws -> T
  ) throws -> T {
    let statement = try statements.take(sql, for: handle)
    defer { statements.giveBack(statement, sql) }
    for (index, value) in values.enumerated() {
      guard value.bind(to: statement, at: Int32(index + 1)) == SQLITE_OK else {
        throw StoreError(handle, "bind a value")
      }
    }
    return try body(statement)
  }
}
