import FoundationEssentials
import MediaTypes
package import PluginHost
package import RichPushAPI

/// Asks the plugin of a rich type whether a payload can be sent.
package struct PayloadValidator: Sendable {
  private let host: PluginHost

  /// Creates a validator over the plugins of a host.
  package init(host: PluginHost) { self.host = host }

  /// The plugin's details of the payload, as the text of a JSON object; nil if it gave none.
  ///
  /// - Throws: The plugin's reason if it rejects the payload, or why it did not answer.
  package func details(_ source: RenditionSource) async throws(ServiceError) -> String? {
    let plugin = try plugin(source.richType)
    if let pinned = source.pinned, !plugin.accepts(pinned.type) {
      throw ServiceError(.unsupportedType, advice(on: pinned, for: plugin))
    }
    return try await ServiceError.mapping {
      let reply = try await host.respond(
        to: PluginCall(
          verb: .validate, richType: source.richType, message: source.message,
          payload: source.payload, asset: source.asset, body: Array(source.payload.utf8)))
      guard let value = JSON(try reply.bytes(asset: nil)), case .object = value else {
        return nil
      }
      return value.text
    }
  }

  /// What the file is, and what its owner can do with it.
  private func advice(on pinned: PinnedAsset, for plugin: Plugin) -> String {
    let kind = OpenFile.reading(pinned.path) { $0.map { FileKind($0) } }
    guard let kind else { return "The file cannot be read any more." }
    let isMedia = ["image", "audio"].contains(MediaType(pinned.type)?.family)
    // A plugin that accepts any type would be no better advice than none.
    let other = host.plugins().first { isMedia && $0.accepts(pinned.type) && !$0.accepts("x/x") }
    return kind.refusal(accepting: plugin.manifest.accepts, folder: other?.richType)
  }

  /// Starts processes of the plugin for so many expected calls.
  package func prepare(_ richType: String, calls: Int) { host.prestart(richType, calls: calls) }

  /// The identity of the rich type's plugin, which changes with its version; `-` if there is no plugin.
  package func identity(_ richType: String) -> String { host.plugin(richType)?.identity ?? "-" }

  /// The rich type's plugin.
  ///
  /// - Throws: `unknownRichType` with the types there are.
  package func plugin(_ richType: String) throws(ServiceError) -> Plugin {
    if let plugin = host.plugin(richType) { return plugin }
    let known = host.plugins().map(\.richType).sorted().joined(separator: ", ")
    throw ServiceError(
      .unknownRichType,
      "There is no plugin for the rich type \(richType.quoted); there are: \(known.isEmpty ? "none" : known)."
    )
  }
}

extension PluginReply {
  /// The content, bounded by the plugin's output limit or the asset's size; `asset` is the asset's path.
  func bytes(asset: String?) throws -> [UInt8] {
    switch body {
    case .bytes(let bytes): bytes
    case .file(let file): Array(try Data(contentsOf: URL(filePath: file.path)))
    case .asset: Array(try Data(contentsOf: URL(filePath: asset ?? "")))
    }
  }
}
