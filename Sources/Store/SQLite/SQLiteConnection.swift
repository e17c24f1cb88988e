import CSQLite
import Glibc

/// One connection to a SQLite database, which one thread uses at a time.
///
/// Prepared statements are cached.
final class SQLiteConnection: Changing {
  /// What a connection is for.
  enum Purpose {
    /// Queries only.
    case reading
    /// Everything; creates the database if it does not exist.
    case writing
    /// `VACUUM INTO`, which needs a connection that may write.
    case copying
    /// Copying the write-ahead log into the database (``Checkpointer``).
    case checkpointing
  }

  /// How long to wait for another process's lock, such as that of a command while the server runs.
  private static let busyTimeout: Int32 = 10_000  // ms

  /// SQLite would count each allocation under one lock for all connections.
  private static let countsNoMemory = csqlite_count_no_memory()

  /// The C handle, for the parts of SQLite that have no wrapper here.
  let handle: OpaquePointer
  /// Those of the changes in the transaction that is open.
  let effects = Effects()
  /// What the team has decided about pushes.
  var rules = SendingRules()
  /// The space that is kept for changes that cannot wait, by a connection that writes.
  var reserve: DiskReserve?
  private let statements = StatementCache()

  /// Opens the database at `path` with the settings every connection of the store has.
  static func open(_ path: String, for purpose: Purpose) throws(StoreError) -> SQLiteConnection {
    var opened: OpaquePointer?
    let creation = purpose == .writing ? SQLITE_OPEN_CREATE : 0
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | creation
    _ = countsNoMemory
    let status = sqlite3_open_v2(path, &opened, flags, nil)
    guard status == SQLITE_OK, let opened else {
      let error = StoreError(opened, "open \(path)")
      sqlite3_close_v2(opened)
      throw error
    }
    let connection = SQLiteConnection(handle: opened)
    sqlite3_busy_timeout(opened, busyTimeout)
    switch purpose {
    case .reading:
      // What is read between two commits, after each of which SQLite forgets it, when a million phones come at once.
      try connection.script("PRAGMA query_only = ON; PRAGMA cache_size = -8192")
    case .writing:
      // Savepoints journal to a temporary file by default; memory is faster. The limit returns a WAL that
      // grew during a long read to 64 MB. At 16 MB the writer itself copies what is left to copy, since the log
      // is begun again only when nothing is. The cache has the registrations of a large audience.
      // What is removed is overwritten; Debian's SQLite does that anyway.
      try connection.script(
        """
        PRAGMA journal_mode = WAL; PRAGMA journal_size_limit = 67108864;
        PRAGMA wal_autocheckpoint = 4000; PRAGMA cache_size = -16384;
        PRAGMA temp_store = MEMORY; PRAGMA secure_delete = ON
        """)
    case .copying, .checkpointing:
      break
    }
    // NORMAL, the usual setting with WAL, would lose the last commits in a power cut; FULL syncs each.
    try connection.script("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON")
    return connection
  }

  private init(handle: OpaquePointer) { self.handle = handle }

  deinit {
    statements.finalizeAll()
    sqlite3_close_v2(handle)
  }

  /// Whether a transaction is open; SQLite itself rolls it back when the disk is full.
  var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

  /// The pages written to the write-ahead log since the last call (`SQLITE_DBSTATUS_CACHE_WRITE`).
  func takeWrittenPages() -> Int {
    var (pages, highest): (Int32, Int32) = (0, 0)
    sqlite3_db_status(handle, SQLITE_DBSTATUS_CACHE_WRITE, &pages, &highest, 1)
    return Int(pages)
  }

  /// The row that the last INSERT of any statement added (`sqlite3_last_insert_rowid`).
  var lastInsertedRow: Int { Int(sqlite3_last_insert_rowid(handle)) }

  /// Runs one or more statements without values, and ignores their rows (`sqlite3_exec`).
  func script(_ sql: String) throws(StoreError) {
    guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else {
      throw StoreError(handle, "run \(sql.prefix(60))")
    }
  }

  @discardableResult
  func run(_ sql: String, values: [any Parameter]) throws -> Int {
    try withStatement(sql, values) { statement in
      while try step(statement) {}
    }
    return Int(sqlite3_changes64(handle))
  }

  func rows<T>(
    _ sql: String, values: [any Parameter], limit: Int, read: (inout SQLiteRow) throws -> T
  ) throws -> [T] {
    try withStatement(sql, values) { statement in
      var rows: [T] = []
      while rows.count < limit, try step(statement) {
        var row = SQLiteRow(statement)
        rows.append(try read(&row))
      }
      return rows
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
    _ sql: String, _ values: [any Parameter], _ body: (OpaquePointer) throws -> T
  ) throws -> T {
    let prepared = try statements.checkOut(sql, for: handle)
    defer { prepared.checkIn() }
    guard prepared.bind(values) == SQLITE_OK else { throw StoreError(handle, "bind a value") }
    return try body(prepared.statement)
  }

  // SQLite has no plans of that kind.
  func planningForValues<R>(_ body: () throws -> R) throws -> R { try body() }

  func send(_ sql: String, values: [any Parameter]) throws { try run(sql, values: values) }

  // The writer is alone.
  func lock(_ clause: String) -> String { "" }

  func waitForOthers(_ name: String) {}

  func takesUpkeep() -> Bool { true }

  func requireSpace() throws { try reserve?.requireSpace() }
}

// MARK: - Many values

extension SQLiteConnection {
  /// Runs a statement for each of several elements, with the values that `values` returns; returns for which of
  /// them it changed a row.
  ///
  /// In its SQL `$1`, `$2` and so on come in their order, as they do for the next function.
  func changes<Element, each C: Column>(
    _ sql: String, _ elements: [Element], _ values: (Element) -> (repeat each C)
  ) throws -> [Bool] {
    try withStatement(sql, elements, values) { statement in
      while try step(statement) {}
      return sqlite3_changes64(handle) > 0
    }
  }

  /// Runs a query for each of several elements; returns the first column of each first row, nil for one without.
  func values<T: Column, Element, each C: Column>(
    _ sql: String, _ elements: [Element], as type: T.Type = T.self,
    _ values: (Element) -> (repeat each C)
  ) throws -> [T?] {
    try withStatement(sql, elements, values) { try step($0) ? T.read($0, at: 0) : nil }
  }

  /// Inserts a row for each of several elements; `sql` is the statement up to `VALUES`, and `row` what follows it
  /// for one row, with `?` for each value.
  ///
  /// Fifty share a statement: in a table with AUTOINCREMENT a statement costs as much as a row.
  func insert<Element, each C: Column>(
    _ sql: String, _ row: String, _ elements: [Element], _ values: (Element) -> (repeat each C)
  ) throws {
    let number = 50
    let whole = elements.count - elements.count % number
    let many = sql + " " + repeatElement(row, count: number).joined(separator: ", ")
    for start in stride(from: 0, to: whole, by: number) {
      let prepared = try statements.checkOut(many, for: handle)
      defer { prepared.checkIn() }
      var index: Int32 = 0
      for element in elements[start..<start + number] {
        let row = values(element)
        try bind(repeat each row, to: prepared.statement, after: &index)
      }
      while try step(prepared.statement) {}
    }
    _ = try changes(sql + " " + row, Array(elements[whole...]), values)
  }

  private func withStatement<T, Element, each C: Column>(
    _ sql: String, _ elements: [Element], _ values: (Element) -> (repeat each C),
    _ body: (OpaquePointer) throws -> T
  ) throws -> [T] {
    let prepared = try statements.checkOut(sql, for: handle)
    defer { prepared.checkIn() }
    return try elements.map { element in
      var index: Int32 = 0
      let row = values(element)
      try bind(repeat each row, to: prepared.statement, after: &index)
      defer { sqlite3_reset(prepared.statement) }
      return try body(prepared.statement)
    }
  }

  /// Binds values to the parameters after one, which becomes the last of them.
  private func bind<each C: Column>(
    _ values: repeat each C, to statement: OpaquePointer, after index: inout Int32
  ) throws(StoreError) {
    for value in repeat each values {
      index += 1
      guard value.bind(to: statement, at: index) == SQLITE_OK else {
        throw StoreError(handle, "bind a value")
      }
    }
  }
}

// MARK: - Parts of statements

extension SQLiteConnection {
  func isIn(_ parameter: String) -> String { "IN (SELECT value FROM json_each(\(parameter)))" }

  func isHandle(_ parameter: String) -> String { "handle = \(parameter)" }

  func isAmong(_ query: String, of table: String, key: [String]) -> String {
    let selected = key.map { "\(table).\($0)" }.joined(separator: ", ")
    return "(\(key.joined(separator: ", "))) IN (SELECT \(selected) \(query))"
  }

  var progress: String { "progress" }

  var latestEvent: String { "SELECT seq FROM sqlite_sequence WHERE name = 'event'" }

  var latestPushEvent: String { "SELECT seq FROM sqlite_sequence WHERE name = 'push_event'" }
}

/// A row of a query of SQLite.
struct SQLiteRow: Row {
  /// The statement, for values without a type.
  let statement: OpaquePointer
  private var index: Int32 = 0

  fileprivate init(_ statement: OpaquePointer) { self.statement = statement }

  mutating func next<T: Column>(_ type: T.Type) throws(StoreError) -> T {
    defer { index += 1 }
    return try T.read(statement, at: index)
  }
}

/// The prepared statements of one connection by their SQL.
private final class StatementCache {
  private var statements: [String: PreparedStatement] = [:]

  func checkOut(
    _ sql: String, for connection: OpaquePointer
  ) throws(StoreError) -> PreparedStatement {
    if let known = statements[sql], !known.isInUse {
      known.isInUse = true
      return known
    }
    // Nested use of the same SQL prepares it twice.
    let new = try PreparedStatement(sql, for: connection)
    statements[sql] = new
    return new
  }

  func finalizeAll() { statements = [:] }
}

/// A statement that is used once at a time.
private final class PreparedStatement {
  let statement: OpaquePointer
  var isInUse = true
  /// The number of each parameter, `n` of `$n`: to SQLite it is a name, and its index that of its first use.
  private let numbers: [Int]

  init(_ sql: String, for connection: OpaquePointer) throws(StoreError) {
    var prepared: OpaquePointer?
    let flags = UInt32(SQLITE_PREPARE_PERSISTENT)
    let status = sqlite3_prepare_v3(connection, sql, -1, flags, &prepared, nil)
    guard status == SQLITE_OK, let prepared else {
      throw StoreError(connection, "prepare \(sql.prefix(60))")
    }
    statement = prepared
    numbers = (0..<sqlite3_bind_parameter_count(prepared)).map { index in
      guard let name = sqlite3_bind_parameter_name(prepared, index + 1) else { return 0 }
      return Int(atol(name + 1))
    }
  }

  /// Binds the values to the parameters with their numbers; returns SQLite's result code.
  func bind(_ values: [any Parameter]) -> Int32 {
    for (index, number) in numbers.enumerated() {
      guard values.indices.contains(number - 1) else { return SQLITE_RANGE }
      let status = values[number - 1].bind(to: statement, at: Int32(index + 1))
      if status != SQLITE_OK { return status }
    }
    return SQLITE_OK
  }

  deinit { sqlite3_finalize(statement) }

  // Without the reset the statement would keep the connection's read snapshot open.
  func checkIn() {
    sqlite3_reset(statement)
    sqlite3_clear_bindings(statement)
    isInUse = false
  }
}

extension StoreError {
  /// Describes a failed SQLite call by the result code and the message of its connection.
  fileprivate init(_ connection: OpaquePointer?, _ action: String) {
    let message = String(cString: sqlite3_errmsg(connection))
    let system = sqlite3_system_errno(connection)
    switch sqlite3_errcode(connection) {
    case SQLITE_FULL:
      self.init(.full, "the disk is full: the database could not be written")
    case SQLITE_IOERR where system == ENOSPC || system == EDQUOT:
      self.init(.full, "the disk or the quota is full: the database could not be written")
    case SQLITE_CORRUPT, SQLITE_NOTADB:
      self.init(
        .damaged,
        "the database is damaged (\(message)): stop the server, run richpush store check, and restore the last "
          + "backup into an empty folder with richpush store restore")
    case SQLITE_READONLY, SQLITE_PERM:
      self.init(.readOnly, "the database may not be written to (\(message)); check its owner")
    case SQLITE_BUSY, SQLITE_LOCKED:
      self.init(.busy, "another process holds the database; try again")
    case SQLITE_CONSTRAINT:
      self.init(.conflict, "the change contradicts what is stored (\(message))")
    default:
      self.init(.failed, "the database could not \(action): \(message)")
    }
  }
}
