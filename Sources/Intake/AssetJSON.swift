package import RichPushAPI
package import Store

extension AssetRecord {
  /// The asset in every JSON response, with its plugin's details.
  package var json: JSON {
    var members: [String: JSON] = [:]
    if let details, case .object(let details)? = JSON(details.utf8) { members = details }
    members["richType"] = .string(richType)
    members["name"] = .string(name)
    members["state"] = .string(state.rawValue)
    members["reason"] = .optional(state == .ready ? nil : reason)
    members["advice"] = .optional(advice(of: members["advice"]))
    members["contentType"] = .optional(type)
    members["bytes"] = .number(Double(bytes))
    members["sha256"] = .optional(blob?.hex)
    return .object(members)
  }

  /// The line about it in the log.
  var logLine: String {
    "\(richType)/\(name) is \(state.rawValue)" + (reason.map { ": " + $0 } ?? "")
  }

  /// The data of the event that publishers receive.
  ///
  /// The plugin's details do not override members that every event has.
  var event: String {
    guard case .object(let members) = json else { return "{}" }
    return JSON.object(members.filter { !["type", "id", "time"].contains($0.key) }).text
  }

  /// The data of the event for a name that was removed.
  static func removalEvent(_ richType: String, _ name: String) -> String {
    JSON.object([
      "richType": .string(richType), "name": .string(name), "state": .string("removed"),
    ]).text
  }

  /// Advice for the author of a usable asset, by the plugin and the server.
  private func advice(of plugin: JSON?) -> String? {
    var sentences = (plugin?.sentences ?? []).map(\.ended)
    if state == .ready, let reason { sentences.append(reason) }
    if let twin = caseVariant {
      sentences.append(
        "\(twin.quoted) differs only in upper and lower case: on a Mac or a PC they are one file."
      )
    }
    return sentences.isEmpty ? nil : sentences.joined(separator: " ")
  }
}

extension JSON {
  /// A string, or the strings of an array; blank ones and other values are ignored.
  fileprivate var sentences: [String] {
    let items: [JSON] = if case .array(let items) = self { items } else { [self] }
    return items.compactMap { item in
      guard case .string(let text) = item, text.contains(where: { !$0.isWhitespace }) else {
        return nil
      }
      return text
    }
  }
}

extension String {
  /// The sentence with its full stop, so that another can follow.
  fileprivate var ended: String { last.map { ".!?…".contains($0) } == true ? self : self + "." }
}
