import CPostgres

/// The rows that a statement returned, or how many it changed.
struct PostgresResult: ~Copyable {
  private let handle: OpaquePointer

  /// Takes a result that is not an error.
  init(_ handle: OpaquePointer) { self.handle = handle }

  deinit { cpostgres_clear(handle) }

  /// How many rows the statement changed, or returned if it is a SELECT.
  var changedRows: Int { Int(String(cString: cpostgres_changed_rows(handle))) ?? 0 }

  /// What the server has done, such as `COMMIT`, which is `ROLLBACK` in a failed transaction.
  var command: String { String(cString: cpostgres_command(handle)) }

  /// The results of `read` for the first `limit` rows, in order.
  func map<T>(limit: Int = .max, _ read: (inout PostgresRow) throws -> T) throws -> [T] {
    let count = min(Int(cpostgres_row_count(handle)), limit)
    var values: [T] = []
    values.reserveCapacity(count)
    for index in 0..<count {
      var row = PostgresRow(handle, Int32(index))
      values.append(try read(&row))
    }
    return values
  }
}

/// A row of a result, read column by column from the left.
struct PostgresRow: Row {
  private let result: OpaquePointer
  private let index: Int32
  private var column: Int32 = 0

  fileprivate init(_ result: OpaquePointer, _ index: Int32) {
    (self.result, self.index) = (result, index)
  }

  /// The next column, as the type that the caller expects.
  mutating func next<T: Column>(_ type: T.Type) throws(StoreError) -> T {
    defer { column += 1 }
    if cpostgres_is_null(result, index, column) != 0 { return try T.parseNull() }
    let count = Int(cpostgres_length(result, index, column))
    // Valid until the result is cleared, which outlives the row.
    let text = UnsafeRawPointer(cpostgres_value(result, index, column))
    return try T.parse(
      UnsafeBufferPointer(start: text.assumingMemoryBound(to: UInt8.self), count: count))
  }
}
