import Foundation

/// Rows for people: columns as wide as their widest cell.
enum Table {
  /// The rows as lines; the last column is as long as it is.
  static func text(_ rows: [[String]]) -> String {
    let widths = (rows.first ?? []).indices.map { column in
      rows.map { $0[column].count }.max() ?? 0
    }
    return rows.map { row in
      zip(row, widths).dropLast().map { cell, width in
        cell + String(repeating: " ", count: width - cell.count)
      }.joined(separator: "  ") + "  " + (row.last ?? "")
    }.joined(separator: "\n")
  }
}
