/// Rows for people: columns as wide as their widest cell, within reason.
enum Table {
  /// A cell wider than this widens no other row.
  private static let widest = 40
  /// Below so many characters a last column is not worth wrapping, and goes below its row.
  private static let narrowest = 30

  /// The rows as lines.
  ///
  /// For a screen of a `width` the last cell, and one too wide for its column, are wrapped by words, and
  /// what follows the latter begins a new line. Without a width each row is one line, for programs that read lines.
  static func text(_ rows: [[String]], width: Int? = Terminal.width) -> String {
    let widths = (rows.first ?? []).indices.map { column in
      rows.map { $0[column].count }.filter { $0 <= widest }.max() ?? 0
    }
    return rows.map { row(zip($0, widths).dropLast(), $0.last ?? "", width) }
      .joined(separator: "\n")
  }

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
    guard let width else { return (text + last).withoutSpacesAtItsEnd }
    let isBeside = start + min(narrowest, last.count) <= width
    let indent = "\n" + String(repeating: " ", count: isBeside ? start : 4)
    let lines = wrapped(last, to: width - indent.count + 1)
    let all = isBeside ? text : text.withoutSpacesAtItsEnd + (last.isEmpty ? "" : indent)
    return (all + lines.joined(separator: indent)).withoutSpacesAtItsEnd
  }

  /// The lines of a text, as many words in each as fit; a word that is longer has a line of its own.
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
  fileprivate var withoutSpacesAtItsEnd: String {
    String(self[..<(lastIndex { !$0.isWhitespace }.map { index(after: $0) } ?? startIndex)])
  }
}
