import Foundation

/// The table in `docs/PLUGINS.md` of what becomes of each attack in each mode.
struct AttackTable {
  static let file = Package.root.appending(path: "docs/PLUGINS.md")
  private static let begin = "<!-- attacks:begin -->\n"
  private static let end = "<!-- attacks:end -->\n"

  private static let wish = ProcessInfo.processInfo.environment["RICHPUSH_ATTACKS"]
  /// Whether what is measured becomes the table.
  static let isWritten = wish == "write"
  /// Whether what the plugins do is shown.
  static let isTold = wish != nil

  /// The cells by row and column.
  private(set) var cells: [String: [String: String]] = [:]

  /// Reads it from the page.
  init() throws {
    let text = try String(contentsOf: AttackTable.file, encoding: .utf8)
    guard let begin = text.range(of: AttackTable.begin), let end = text.range(of: AttackTable.end)
    else { return }
    let lines = text[begin.upperBound..<end.lowerBound].split(separator: "\n").map { line in
      line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
    }
    for line in lines.dropFirst(2) {
      for (column, cell) in zip(lines[0], line).dropFirst() {
        cells[line[0], default: [:]][column] = cell
      }
    }
  }

  /// Puts a column of measured cells in, and the table into the page.
  mutating func write(_ column: [String: String], of mode: HostileMode) throws {
    for (row, cell) in column { cells[row, default: [:]][mode.title] = cell }
    let text = try String(contentsOf: AttackTable.file, encoding: .utf8)
    guard let begin = text.range(of: AttackTable.begin), let end = text.range(of: AttackTable.end)
    else { return }
    let page = text[..<begin.upperBound] + markdown + text[end.lowerBound...]
    try page.write(to: AttackTable.file, atomically: true, encoding: .utf8)
  }

  private var markdown: String {
    let columns = HostileMode.all.map(\.title)
    let head = [["attack"] + columns, ["---"] + columns.map { _ in "---" }]
    let rows = Attack.all.map { attack in
      [attack.name] + columns.map { cells[attack.name]?[$0] ?? "not measured" }
    }
    return (head + rows).map { "| " + $0.joined(separator: " | ") + " |\n" }.joined()
  }
}
