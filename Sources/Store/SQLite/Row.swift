/// A row of a query, read column by column from the left.
struct Row {
  private let statement: OpaquePointer
  private var index: Int32 = 0

  init(_ statement: OpaquePointer) {
    self.statement = statement
  }

  /// The next column, as the type the caller wants.
  mutating func next<T: Column>(_ type: T.Type = T.self) throws(StoreError) -> T {
    defer { index += 1 }
    return try T.read(statement, at: index)
  }
}
