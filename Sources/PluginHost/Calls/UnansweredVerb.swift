/// What the host itself says where a plugin has no such verb (design section 3).
struct UnansweredVerb {
  let plugin: Plugin
  let call: PluginCall

  /// An asset of an accepted type is valid, and is rendered as it is.
  func reply() throws(Fault) -> PluginReply {
    switch call.verb {
    case .validate:
      if let asset = call.asset, !plugin.accepts(asset.type) { throw refusal(of: asset.type) }
      let type = call.asset.map { "\"contentType\":\"\($0.type)\"" } ?? ""
      return document(Array("{\(type)}".utf8), type: "application/json")
    case .render:
      guard let asset = call.asset else {
        return document(Array(call.payload.utf8), type: "text/plain; charset=utf-8")
      }
      return PluginReply(
        status: 200, contentType: asset.type, fields: [], body: .asset, location: nil,
        isStorable: true)
    case .describe:
      throw Fault(
        error: PluginError(status: 404, reason: "The plugin does not describe itself."),
        cause: "it has no verb describe")
    }
  }

  private func refusal(of type: String) -> Fault {
    let ranges = plugin.manifest.accepts.joined(separator: ", ")
    let reason = "The file is \(type); the rich type \(plugin.richType) takes \(ranges)."
    return Fault(error: PluginError(status: 415, reason: reason), cause: reason)
  }

  private func document(_ bytes: [UInt8], type: String) -> PluginReply {
    PluginReply(
      status: 200, contentType: type, fields: [], body: .bytes(bytes), location: nil,
      isStorable: true)
  }
}
