package import RichPushAPI
package import Store

extension AssetRecord {
  /// The asset in every JSON response, with its plugin's details except the ones left out.
  package func message(
    progress: Asset.Progress? = nil, leavingOut names: Set<String> = []
  ) -> Asset {
    let facts = facts
    var asset = Asset(
      richType: richType, name: name, state: Asset.State(rawValue: state.rawValue) ?? .refused,
      reason: state == .ready ? nil : reason, advice: advice(of: facts["advice"]),
      contentType: type, bytes: bytes, sha256: blob?.hex, progress: progress,
      details: .object(facts.filter { !names.contains($0.key) }))
    (asset.modified, asset.alt, asset.labels) = (modified, alt, labels)
    asset.focus = focus.flatMap { Asset.Focus($0) }
    return asset
  }

  /// What the plugin's `validate` returned.
  var facts: [String: JSONValue] {
    details.flatMap { JSONValue($0.utf8)?.members } ?? [:]
  }

  /// The line about it in the log.
  var logLine: String {
    "\(richType)/\(name) is \(state.rawValue)" + (reason.map { ": " + $0 } ?? "")
  }

  /// The data of the event that publishers receive.
  ///
  /// The plugin's details do not override members that every event has.
  var event: String { JSONCoding.text(message(leavingOut: ["type", "id", "time"])) }

  /// The data of the event for a name that was removed.
  static func removalEvent(_ richType: String, _ name: String) -> String {
    JSONCoding.text(["richType": richType, "name": name, "state": "removed"])
  }

  /// Advice for the author of a usable asset, by the plugin and the server.
  private func advice(of plugin: JSONValue?) -> String? {
    var sentences = (plugin?.sentences ?? []).map(\.ended)
    if state == .ready, let reason { sentences.append(reason) }
    if let twin = lookAlike {
      let difference = NameDifference(from: name, to: twin)
      sentences.append(
        difference.isCaseOnly
          ? "\(twin.quoted) differs only in upper and lower case: on a Mac or a PC they are one file."
          : "\(twin.quoted) looks the same, but \(difference.description).")
    }
    return sentences.isEmpty ? nil : sentences.joined(separator: " ")
  }
}

extension JSONValue {
  /// A string, or the strings of an array; blank ones and other values are ignored.
  fileprivate var sentences: [String] {
    let items: [JSONValue] = if case .array(let items) = self { items } else { [self] }
    return items.compactMap(\.text).filter { $0.contains { !$0.isWhitespace } }
  }
}

extension String {
  /// The sentence with its full stop, so that another can follow.
  fileprivate var ended: String { last.map { ".!?…".contains($0) } == true ? self : self + "." }
}
