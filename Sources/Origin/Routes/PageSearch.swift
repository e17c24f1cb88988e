/// A row of a list that can be searched.
protocol SearchedRow: Sendable {
  /// The number by which the list is in order.
  var number: Int { get }
  /// Where a search looks for its words.
  var texts: [String] { get }
}

/// A page of the newest rows that match, for which a bounded part of a list is looked at.
struct PageSearch {
  /// The most bytes that one search looks at, with some for each row; the client goes on at `next`.
  private static let searched = 4_000_000

  /// The rows with numbers below this; nil for all.
  let before: Int?
  /// The most rows.
  let limit: Int
  /// Whether every row matches.
  let isAll: Bool

  /// The rows that match, and the `before` of the next page; `read` reads up to so many rows below a number.
  func page<Row: SearchedRow>(
    _ read: (_ before: Int?, _ count: Int) async throws -> [Row], matching match: (Row) -> Bool
  ) async throws -> (found: [Row], next: Int?) {
    var (found, last, remaining) = ([Row](), before, Self.searched)
    while true {
      let count = isAll ? limit + 1 : 100
      let rows = try await read(last, count)
      for row in rows {
        if found.count == limit { return (found, last) }
        if isAll || match(row) { found.append(row) }
        last = row.number
        remaining -= row.texts.reduce(500) { $0 + $1.utf8.count }
      }
      if rows.count < count { return (found, nil) }
      if remaining <= 0 { return (found, last) }
    }
  }
}
