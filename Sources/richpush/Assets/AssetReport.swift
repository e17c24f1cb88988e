import FoundationEssentials
import RichPushAPI
import RichPushClient

extension Report {
  /// Prints all assets, one per line.
  func list(_ assets: [Asset]) { list(["STATE", "NAME", "SIZE", "CONTENT", "NOTE"], assets) }

  /// Prints what can be restored, one per line.
  func list(_ versions: [AssetVersion]) {
    list(["VERSION", "NAME", "SIZE", "CONTENT", "ENDED", "UNTIL"], versions)
  }

  /// Prints an asset in one line.
  func line(_ asset: Asset) {
    show(
      asset,
      "\(asset.state.rawValue) \(asset.richType)/\(asset.name)\(asset.note.map { ": " + $0 } ?? "")"
    )
  }

  /// Prints where an asset was used: the newest of the notifications, and how many there are.
  func show(_ uses: AssetUses) {
    guard !isJSON else { return Terminal.print(TerminalText(json: uses)) }
    let drafts = (uses.drafts ?? []).map { draft in
      [draft.isTemplate ? "template" : "draft", String(draft.id), "-", draft.name]
    }
    let notifications = uses.notifications.map { notification in
      [
        notification.state.rawValue, String(notification.id),
        notification.created.formatted(.iso8601), notification.message.summary,
      ]
    }
    Terminal.print(Table.text([["STATE", "ID", "CREATED", "MESSAGE"]] + drafts + notifications))
    let rest = (uses.count ?? 0) - uses.notifications.count
    if rest > 0 { note("and \(rest) more: earlier ones, or other publishers'") }
  }

  /// Prints everything that is known about an asset, one JSON member per line.
  func show(_ asset: Asset) {
    guard !isJSON, let members = asset.details.members else { return line(asset) }
    let known = members.filter { $0.value != .null }.sorted { $0.key < $1.key }
    Terminal.print(
      Table.text(
        known.map { [$0.key, $0.value.text ?? JSONCoding.text($0.value)] }))
  }
}

extension Asset: Reported {
  var cells: [String] {
    [state.rawValue, "\(richType)/\(name)", size, contentType ?? "-", note ?? ""]
  }
}

extension AssetLabel: Reported {
  var cells: [String] { [label, String(count)] }
}

extension AssetVersion: Reported {
  var cells: [String] {
    [
      String(sha256.prefix(12)), "\(richType)/\(name)", Table.size(of: bytes), contentType ?? "-",
      ended.formatted(.iso8601), until.formatted(.iso8601),
    ]
  }
}

extension Asset {
  fileprivate var note: String? {
    reason ?? advice ?? progress.map { "\($0.made) of \($0.total) made" }
  }

  /// Its name and the progress of its preparation.
  var preparation: String {
    "\(richType)/\(name)" + (progress.map { ", \($0.made) of \($0.total) made" } ?? "")
  }

  fileprivate var size: String { bytes.map { $0 == 0 ? "-" : Table.size(of: $0) } ?? "-" }
}
