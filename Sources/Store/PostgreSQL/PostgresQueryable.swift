/// Something that runs statements: a connection, or a transaction on it.
///
/// In SQL, `$1` is the first of the values. Columns are read in the order of the query, as the types that the
/// caller expects:
///
///     try connection.all("SELECT id, name FROM users WHERE role = $1", role, as: Person.init)
protocol PostgresQueryable {
  /// Runs a statement.
  func execute(_ sql: String, _ values: [any PostgresParameter]) throws(StoreError)
    -> PostgresResult
}

extension PostgresQueryable {
  /// Runs a statement and returns how many rows it changed.
  @discardableResult
  func run(_ sql: String, _ values: any PostgresParameter...) throws -> Int {
    try execute(sql, values).changedRows
  }

  /// All rows, each as the result of `make` for its columns.
  func all<each C: PostgresColumn, T>(
    _ sql: String, _ values: any PostgresParameter..., as make: (repeat each C) -> T
  ) throws -> [T] {
    try execute(sql, values).map { row in try row.decode(make) }
  }

  /// All rows, each as the result of `read`.
  func all<T>(
    _ sql: String, _ values: any PostgresParameter..., read: (inout PostgresRow) throws -> T
  ) throws -> [T] {
    try execute(sql, values).map(read)
  }

  /// The first column of all rows.
  func column<T: PostgresColumn>(
    _ sql: String, _ values: any PostgresParameter..., as type: T.Type = T.self
  ) throws -> [T] {
    try execute(sql, values).map { row in try row.next(T.self) }
  }

  /// The rows of two columns, as keys and values; the keys must be unique.
  func dictionary<Key: PostgresColumn & Hashable, Value: PostgresColumn>(
    _ sql: String, _ values: any PostgresParameter...
  ) throws -> [Key: Value] {
    let pairs = try execute(sql, values).map { row in
      (try row.next(Key.self), try row.next(Value.self))
    }
    return Dictionary(uniqueKeysWithValues: pairs)
  }

  /// The first row, as the result of `read`; nil if there is none.
  func first<T>(
    _ sql: String, _ values: any PostgresParameter..., read: (inout PostgresRow) throws -> T
  ) throws -> T? {
    try execute(sql, values).map(read).first
  }

  /// The first column of the first row; nil if there is no row.
  func value<T: PostgresColumn>(
    _ sql: String, _ values: any PostgresParameter..., as type: T.Type = T.self
  ) throws -> T? {
    try execute(sql, values).map { row in try row.next(T.self) }.first
  }
}
