import FoundationEssentials
import RichPushAPI

/// Something that a command lists.
protocol Reported: Encodable {
  /// As a row of a table.
  var cells: [String] { get }
}

/// Prints lists: as a table for people, or as JSON lines for programs.
struct Report {
  let isJSON: Bool

  /// Prints all items, one per line.
  func list(_ head: [String], _ items: [some Reported]) {
    guard !isJSON else { return items.forEach { Terminal.print(TerminalText(json: $0)) } }
    Terminal.print(Table.text([head] + items.map(\.cells)))
  }

  /// Prints one value: in words for people, or as a line of JSON for programs.
  func show(_ value: some Encodable, _ words: TerminalText) {
    Terminal.print(isJSON ? TerminalText(json: value) : words)
  }

  /// Prints a text for people only.
  func note(_ text: TerminalText) { if !isJSON { Terminal.print(text) } }
}

/// Reads pages until there are `limit` items; `read` gets the size of a page and the `next` of the page before.
func pages<Item, Next>(
  _ limit: Int, _ read: (_ size: Int, _ next: Next?) async throws -> ([Item], Next?)
) async throws -> [Item] {
  var items: [Item] = []
  var next: Next?
  repeat {
    let page: [Item]
    (page, next) = try await read(min(500, limit - items.count), next)
    items += page
  } while next != nil && items.count < limit
  return items
}

extension Date? {
  /// In a cell of a table.
  var cell: String { map { $0.formatted(.iso8601) } ?? "-" }
}
