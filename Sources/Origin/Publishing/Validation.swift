import PluginHost

/// Asks a rich type's plugin whether a payload can be sent.
struct Validation: Sendable {
  let host: PluginHost

  /// What the plugin says of the payload, as the text of a JSON object; nil when it says nothing.
  ///
  /// - Throws: `Refusal` with the plugin's sentence.
  func details(_ subject: Subject) async throws(Refusal) -> String? {
    let plugin = try plugin(subject.richType)
    if let pinned = subject.pinned, !plugin.accepts(pinned.type) {
      let list = plugin.manifest.accepts.joined(separator: ", ")
      throw Refusal(
        415, "The bytes are \(pinned.type), and the rich type \(subject.richType) takes \(list).")
    }
    return try await Refusal.mapping {
      let reply = try await host.respond(
        to: PluginCall(
          verb: .validate, richType: subject.richType, message: subject.message,
          payload: subject.payload, asset: subject.asset, body: Array(subject.payload.utf8)))
      guard let value = JSONValue(try reply.bytes(asset: nil)), case .object = value else {
        return nil
      }
      return value.text
    }
  }

  /// Has the plugin ready for so many questions that are about to come.
  func prepare(_ richType: String, _ count: Int) { host.prepare(richType, calls: count) }

  /// What tells one version of the rich type's plugin from another; `-` when there is none.
  func identity(_ richType: String) -> String { host.plugin(richType)?.identity ?? "-" }

  /// The rich type's plugin.
  ///
  /// - Throws: `Refusal` 422 that lists the types there are.
  func plugin(_ richType: String) throws(Refusal) -> Plugin {
    if let plugin = host.plugin(richType) { return plugin }
    let known = host.plugins().map(\.richType).sorted().joined(separator: ", ")
    throw Refusal(
      422,
      "There is no plugin for the rich type \(richType.quoted); there are: \(known.isEmpty ? "none" : known)."
    )
  }
}
