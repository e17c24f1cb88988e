import RichPushAPI
import RichPushClient

/// Prints assets: as a table for people, or as JSON lines for programs.
struct AssetReport {
  let isJSON: Bool

  /// Prints all assets, one per line.
  func list(_ assets: [Asset]) {
    guard !isJSON else { return assets.forEach(line) }
    let rows = assets.map { asset in
      [
        asset.state.rawValue, "\(asset.richType)/\(asset.name)", asset.size,
        asset.contentType ?? "-", asset.note ?? "",
      ]
    }
    print([["STATE", "NAME", "SIZE", "CONTENT", "NOTE"]] + rows)
  }

  /// Prints an asset in one line.
  func line(_ asset: Asset) {
    guard !isJSON else { return Terminal.print(JSONCoding.text(asset)) }
    Terminal.print(
      "\(asset.state.rawValue) \(asset.richType)/\(asset.name.printable)"
        + (asset.note.map { ": " + $0.printable } ?? ""))
  }

  /// Prints everything that is known about an asset, one JSON member per line.
  func show(_ asset: Asset) {
    guard !isJSON, let members = asset.details.members else { return line(asset) }
    let known = members.filter { $0.value != .null }.sorted { $0.key < $1.key }
    print(known.map { [$0.key, $0.value.text ?? JSONCoding.text($0.value)] })
  }

  /// Prints a text for people only.
  func note(_ text: String) { if !isJSON { Terminal.print(text) } }

  private func print(_ rows: [[String]]) {
    Terminal.print(Table.text(rows.map { $0.map(\.printable) }))
  }
}

extension Asset {
  fileprivate var note: String? {
    reason ?? advice ?? progress.map { "\($0.made) of \($0.total) made" }
  }

  /// Its name and the progress of its preparation.
  var preparation: String {
    "\(richType)/\(name.printable)" + (progress.map { ", \($0.made) of \($0.total) made" } ?? "")
  }

  fileprivate var size: String { bytes.map { $0 == 0 ? "-" : Table.size(of: $0) } ?? "-" }
}
