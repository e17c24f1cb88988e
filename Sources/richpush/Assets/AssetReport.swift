import Foundation
import RichPushClient

/// Assets on the terminal: a table for people, JSON lines for programs.
struct AssetReport {
  let isJSON: Bool

  /// All of them, one a line.
  func list(_ assets: [Asset]) {
    guard !isJSON else { return assets.forEach(line) }
    let rows = assets.map { asset in
      [
        asset.state.rawValue, "\(asset.richType)/\(asset.name)", asset.size,
        asset.contentType ?? "-", asset.note ?? "",
      ]
    }
    Terminal.say(table([["STATE", "NAME", "SIZE", "CONTENT", "NOTE"]] + rows))
  }

  private func table(_ rows: [[String]]) -> String {
    Table.text(rows.map { $0.map(\.printable) })
  }

  /// One of them, in a line.
  func line(_ asset: Asset) {
    guard !isJSON else { return Terminal.say(asset.details.line) }
    Terminal.say(
      "\(asset.state.rawValue) \(asset.richType)/\(asset.name.printable)"
        + (asset.note.map { ": " + $0.printable } ?? ""))
  }

  /// One of them, with everything that is known, a member a line.
  func show(_ asset: Asset) {
    guard !isJSON, case .object(let members) = asset.details else { return line(asset) }
    let rows = members.filter { $0.value != .null }.sorted { $0.key < $1.key }
    Terminal.say(table(rows.map { [$0.key, $0.value.text ?? $0.value.line] }))
  }

  /// Something that is no asset; programs read it nowhere, they have the exit code.
  func note(_ text: String) { if !isJSON { Terminal.say(text) } }
}

extension String {
  /// The text without what a terminal obeys: a title in a file can hold anything.
  var printable: String {
    unicodeScalars.map { scalar in
      scalar.properties.generalCategory == .control
        ? "\\u{\(String(scalar.value, radix: 16, uppercase: true))}" : String(scalar)
    }.joined()
  }
}

extension Asset {
  /// What there is to say about it.
  fileprivate var note: String? {
    reason ?? advice ?? progress.map { "\($0.made) of \($0.total) made" }
  }

  /// Its name, and how far its preparation has come.
  var preparation: String {
    "\(richType)/\(name.printable)" + (progress.map { ", \($0.made) of \($0.total) made" } ?? "")
  }

  /// The size as people say it.
  fileprivate var size: String { bytes.map { $0 == 0 ? "-" : ByteSize.text($0) } ?? "-" }
}

/// Bytes as people say them.
enum ByteSize {
  static func text(_ bytes: Int) -> String {
    bytes < 1000
      ? "\(bytes) B"
      : bytes < 1_000_000
        ? String(format: "%.1f kB", Double(bytes) / 1e3)
        : String(format: "%.1f MB", Double(bytes) / 1e6)
  }
}

extension JSONValue {
  /// The value as JSON in one line.
  var line: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "null"
  }
}
