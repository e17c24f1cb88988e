/// Something that can be queried: a connection, or the database's readers.
///
/// Columns are read in the order of the query, as the types that the caller expects:
///
///     try database.all("SELECT id, name FROM user WHERE role = ?", role, as: Person.init)
protocol Queryable: ~Copyable {
  /// The first `limit` rows.
  func rows<T: Sendable>(
    _ sql: String, values: [any Column], limit: Int, read: (inout Row) throws -> T
  ) throws -> [T]
}

extension Queryable where Self: ~Copyable {
  /// All rows, each as the result of `make` for its columns.
  func all<each C: Column, T: Sendable>(
    _ sql: String, _ values: any Column..., as make: (repeat each C) -> T
  ) throws -> [T] {
    try rows(sql, values: values, limit: .max) { try $0.decode(make) }
  }

  /// All rows, each as the result of `read`.
  func all<T: Sendable>(
    _ sql: String, _ values: any Column..., read: (inout Row) throws -> T
  ) throws -> [T] {
    try rows(sql, values: values, limit: .max, read: read)
  }

  /// The only column of all rows.
  func column<T: Column & Sendable>(
    _ sql: String, _ values: any Column..., as type: T.Type = T.self
  ) throws -> [T] {
    try rows(sql, values: values, limit: .max) { try $0.next(T.self) }
  }

  /// The rows of two columns, as keys and values; the keys must be unique.
  func dictionary<Key: Column & Hashable & Sendable, Value: Column & Sendable>(
    _ sql: String, _ values: any Column...
  ) throws -> [Key: Value] {
    let pairs = try rows(sql, values: values, limit: .max) { row in
      (try row.next(Key.self), try row.next(Value.self))
    }
    return Dictionary(uniqueKeysWithValues: pairs)
  }

  /// The first row, as the result of `read`; nil if there is none.
  func first<T: Sendable>(
    _ sql: String, _ values: any Column..., read: (inout Row) throws -> T
  ) throws -> T? {
    try rows(sql, values: values, limit: 1, read: read).first
  }

  /// The first column of the first row; nil if there is no row.
  func value<T: Column & Sendable>(
    _ sql: String, _ values: any Column..., as type: T.Type = T.self
  ) throws -> T? {
    try rows(sql, values: values, limit: 1) { try $0.next(T.self) }.first
  }
}

/// A row of a query, read column by column from the left.
struct Row {
  /// The statement, for values without a type.
  let statement: OpaquePointer
  private var index: Int32 = 0

  init(_ statement: OpaquePointer) { self.statement = statement }

  /// The next column, as the type that the caller expects.
  mutating func next<T: Column>(_ type: T.Type = T.self) throws(StoreError) -> T {
    defer { index += 1 }
    return try T.read(statement, at: index)
  }

  /// The result of `make` for the next columns.
  mutating func decode<each C: Column, T>(_ make: (repeat each C) -> T) throws(StoreError) -> T {
    make(repeat try next((each C).self))
  }
}
