import Primitives

/// Aligns the cells of rows in columns.
enum Table {
  /// Wider cells do not widen their column.
  private static let maxColumnWidth = 40
  /// If less space remains for the last cell, it starts on a line of its own.
  private static let minLastWidth = 30

  /// The rows as lines of text, with ``String/printable`` cells.
  ///
  /// On a terminal of a `width`, the last cell and cells wider than their column are wrapped at spaces;
  /// the cell after a wrapped one starts a new line. Without a width, each row is one line, for programs.
  static func text(_ rows: [[String]], width: Int? = Terminal.width) -> TerminalText {
    let rows = rows.map { $0.map(\.printable) }
    let widths = (rows.first ?? []).indices.map { column in
      rows.map { $0[column].count }.filter { $0 <= maxColumnWidth }.max() ?? 0
    }
    let lines = rows.map { row(zip($0, widths).dropLast(), $0.last ?? "", width) }
    return "\(lines: lines.joined(separator: "\n"))"
  }

  /// A number of bytes with its unit.
  static func size(of bytes: Int) -> String {
    switch bytes {
    case ..<1000: "\(bytes) B"
    case ..<1_000_000: "\(decimal(Double(bytes) / 1e3)) kB"
    default: "\(decimal(Double(bytes) / 1e6)) MB"
    }
  }

  /// A number with one decimal place, such as `2.0`.
  static func decimal(_ number: Double) -> String { "\((number * 10).rounded() / 10)" }

  private static func row(
    _ cells: [(String, Int)], _ last: String, _ width: Int?
  ) -> String {
    var text = ""
    var start = 0
    for (cell, columnWidth) in cells {
      let begin = start
      start += columnWidth + 2
      if let width, cell.count > columnWidth {
        let indent = "\n" + String(repeating: " ", count: begin)
        text += wrapped(cell, to: width - begin).joined(separator: indent)
        text += "\n" + String(repeating: " ", count: start)
      } else {
        text += cell + String(repeating: " ", count: max(0, columnWidth - cell.count) + 2)
      }
    }
    guard let width else { return (text + last).withoutTrailingSpaces }
    let fits = start + min(minLastWidth, last.count) <= width
    let indent = "\n" + String(repeating: " ", count: fits ? start : 4)
    let lines = wrapped(last, to: width - indent.count + 1)
    let all = fits ? text : text.withoutTrailingSpaces + (last.isEmpty ? "" : indent)
    return (all + lines.joined(separator: indent)).withoutTrailingSpaces
  }

  /// Breaks a text into lines at spaces; a word longer than `width` gets a line of its own.
  private static func wrapped(_ text: String, to width: Int) -> [String] {
    var lines: [String] = []
    for word in text.split(separator: " ") {
      if let line = lines.last, line.count + 1 + word.count <= width {
        lines[lines.count - 1] = line + " " + word
      } else {
        lines.append(String(word))
      }
    }
    return lines
  }
}

extension String {
  fileprivate var withoutTrailingSpaces: String {
    String(self[..<(lastIndex { !$0.isWhitespace }.map { index(after: $0) } ?? startIndex)])
  }
}
