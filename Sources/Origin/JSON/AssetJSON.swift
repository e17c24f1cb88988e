import Store

extension Asset {
  /// The asset as every JSON answer shows it, with what its plugin said.
  var json: JSONValue {
    var members: [String: JSONValue] = [:]
    if let details, case .object(let said)? = JSONValue(details.utf8) { members = said }
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

  /// What its author should know although it can be used: the plugin's advice and the server's.
  private func advice(of plugin: JSONValue?) -> String? {
    var sentences: [String] = []
    if case .string(let text)? = plugin { sentences.append(text) }
    if state == .ready, let reason { sentences.append(reason) }
    if let twin {
      sentences.append(
        "\(twin.quoted) differs from it in capital letters only: on a Mac or a PC they are one file."
      )
    }
    return sentences.isEmpty ? nil : sentences.joined(separator: " ")
  }
}
