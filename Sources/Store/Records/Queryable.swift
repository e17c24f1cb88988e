/// Something that runs statements: a connection, or a transaction.
///
/// In SQL, `$1` is the first of the values. Columns are read in the order of the query, as the types that the
/// caller expects:
///
///     try connection.all("SELECT id, name FROM users WHERE role = $1", role, as: Person.init)
protocol Queryable {
  associatedtype ResultRow: Row

  /// The first `limit` rows.
  func rows<T>(
    _ sql: String, values: [any Parameter], limit: Int, read: (inout ResultRow) throws -> T
  ) throws -> [T]

  /// Runs a statement and returns how many rows it changed.
  @discardableResult
  func run(_ sql: String, values: [any Parameter]) throws -> Int

  /// Runs `body` with plans that are made for the values of its statements, because the best plan depends on them.
  func planningForValues<R>(_ body: () throws -> R) throws -> R

  /// The devices that meet a clause, in the order of their registrations' IDs; with their time zones if they are wanted.
  func devices(matching clause: TagClause, withZones: Bool) throws -> AudienceDevices

  // MARK: Parts of statements that differ

  /// The condition that a value is in a list, which a parameter has: `id \(connection.isIn("$1"))`.
  func isIn(_ parameter: String) -> String

  /// The condition that the column `handle` has the value of a parameter.
  func isHandle(_ parameter: String) -> String

  /// The condition that a row of a table is one that a query selects; the query is given from its FROM on, and `key`
  /// is the table's primary key.
  func isAmong(_ query: String, of table: String, key: [String]) -> String

  /// Selects false if the user is in a part of the notification's audience that is still to be written, and is due at a
  /// time.
  func pendingRecipient(_ user: String, of notification: String, at time: String) -> String

  /// How far a notification has come with a recipient, from 0 (queued) to 5 (read), as an index has it.
  var progress: String { get }

  /// Selects the number of the last event for publishers.
  var latestEvent: String { get }
  /// Selects the number of the last push event.
  var latestPushEvent: String { get }
}

/// A row of a query, read column by column from the left.
protocol Row: SendableMetatype {
  /// The next column, as the type that the caller expects.
  mutating func next<T: Column>(_ type: T.Type) throws(StoreError) -> T
}

extension Row {
  /// The next column, as the type that the caller expects.
  mutating func next<T: Column>() throws(StoreError) -> T { try next(T.self) }

  /// The result of `make` for the next columns.
  mutating func decode<each C: Column, T>(_ make: (repeat each C) -> T) throws(StoreError) -> T {
    make(repeat try next((each C).self))
  }
}

extension Queryable {
  /// Runs a statement and returns how many rows it changed.
  @discardableResult
  func run(_ sql: String, _ values: any Parameter...) throws -> Int {
    try run(sql, values: values)
  }

  /// All rows, each as the result of `make` for its columns.
  func all<each C: Column, T>(
    _ sql: String, _ values: any Parameter..., as make: (repeat each C) -> T
  ) throws -> [T] {
    try rows(sql, values: values, limit: .max) { try $0.decode(make) }
  }

  /// All rows, each as the result of `read`.
  func all<T>(
    _ sql: String, _ values: any Parameter..., read: (inout ResultRow) throws -> T
  ) throws -> [T] {
    try rows(sql, values: values, limit: .max, read: read)
  }

  /// The first column of all rows.
  func column<T: Column>(
    _ sql: String, _ values: any Parameter..., as type: T.Type = T.self
  ) throws -> [T] {
    try rows(sql, values: values, limit: .max) { try $0.next(T.self) }
  }

  /// The rows of two columns, as keys and values; the keys must be unique.
  ///
  /// Of texts that differ only in Unicode's form, which a database takes for two and Swift for one, the last counts.
  func dictionary<Key: Column & Hashable, Value: Column>(
    _ sql: String, _ values: any Parameter...
  ) throws -> [Key: Value] {
    let pairs = try rows(sql, values: values, limit: .max) { row in
      (try row.next(Key.self), try row.next(Value.self))
    }
    return Dictionary(pairs) { $1 }
  }

  /// The first row, as the result of `read`; nil if there is none.
  func first<T>(
    _ sql: String, _ values: any Parameter..., read: (inout ResultRow) throws -> T
  ) throws -> T? {
    try rows(sql, values: values, limit: 1, read: read).first
  }

  /// The first column of the first row; nil if there is no row.
  func value<T: Column>(
    _ sql: String, _ values: any Parameter..., as type: T.Type = T.self
  ) throws -> T? {
    try rows(sql, values: values, limit: 1) { try $0.next(T.self) }.first
  }
}
