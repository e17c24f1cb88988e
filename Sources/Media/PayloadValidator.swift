import FoundationEssentials
import MediaTypes
package import PluginHost
package import RichPushAPI

/// Validates payloads with the plugins of their rich types.
package struct PayloadValidator: Sendable {
  private let host: PluginHost
  /// The most bytes of a plugin's details: they are stored, and in each message about the content.
  private static let largestDetails = 64 << 10

  /// Creates a validator over the plugins of a host.
  package init(host: PluginHost) { self.host = host }

  /// The plugin's details of the payload, as the text of a JSON object; nil if there are none.
  ///
  /// - Throws: the plugin's reason if it rejects the payload, or why the call failed.
  package func details(_ source: RenditionSource) async throws(ServiceError) -> String? {
    let plugin = try plugin(source.richType)
    if let pinned = source.pinned, let refusal = refusal(of: pinned, by: plugin) {
      throw ServiceError(.unsupportedType, refusal)
    }
    return try await ServiceError.mapping {
      let reply = try await host.respond(
        to: PluginCall(
          verb: .validate, richType: source.richType, message: source.message,
          payload: source.payload, asset: source.asset, body: Array(source.payload.utf8)))
      guard reply.size <= Self.largestDetails else {
        throw ServiceError(
          .pluginFailed,
          "The plugin \(plugin.richType) says more than \(Self.largestDetails >> 10) KiB about it.")
      }
      guard let details = JSONValue(try reply.bytes(asset: nil)), details.members != nil else {
        return nil
      }
      return JSONCoding.text(details)
    }
  }

  /// Literal content as the plugin gets it: for a rich type with a form what was filled in, checked, without members
  /// that are null.
  ///
  /// - Throws: all that is wrong with what was filled in, each as a fault of `payload` or of a member such as
  ///   `payload.code`.
  package func literal(_ payload: String, for plugin: Plugin) throws(ServiceError) -> String {
    guard let form = plugin.manifest.form else { return payload }
    let faults = FormField.faults(in: payload, of: form).map { fault in
      let member = fault.name.map { "payload." + $0 } ?? "payload"
      return ServiceError.Fault(member, .rejected, "\(member) \(fault.rule).")
    }
    if let error = ServiceError(faults) { throw error }
    // In one form, so that a plugin reads what was checked, also of a member that is there twice.
    let members = JSONValue(payload.utf8)?.members ?? [:]
    return JSONCoding.text(JSONValue.object(members.filter { $0.value != .null }))
  }

  /// Why a plugin is not asked about a file, and what its author can do; nil if it is.
  private func refusal(of pinned: PinnedAsset, by plugin: Plugin) -> String? {
    let (type, accepts) = (MediaType(pinned.type), plugin.manifest.accepts)
    let isAccepted = plugin.accepts(pinned.type)
    // A film and a sound can have one media type, so a plugin for sounds accepts it.
    if isAccepted, type?.family != "video" { return nil }
    guard let file = OpenFile(pinned.path) else {
      return isAccepted ? nil : "The file can no longer be read."
    }
    let kind = FileKind(file)
    let isMedia = [.picture, .photo, .sound, .film].contains(kind.sort)
    let other = isMedia ? try? richType(of: file) : nil
    guard !isAccepted || other != nil && !kind.isWanted(accepting: accepts) else { return nil }
    return kind.refusal(accepting: accepts, folder: other)
  }

  /// The plugins that can be used.
  var plugins: [Plugin] { host.plugins() }

  /// Starts processes of the plugin for this number of expected calls.
  package func prestart(_ richType: String, calls: Int) { host.prestart(richType, calls: calls) }

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
  /// The bytes that the plugin wrote.
  fileprivate var size: Int {
    switch body {
    case .bytes(let bytes): bytes.count
    case .file(let file): file.size
    case .asset: 0
    }
  }

  /// The content, bounded by the plugin's output limit or the asset's size; `asset` is the asset's path.
  func bytes(asset: String?) throws -> [UInt8] {
    switch body {
    case .bytes(let bytes): bytes
    case .file(let file): Array(try Data(contentsOf: URL(filePath: file.path)))
    case .asset: Array(try Data(contentsOf: URL(filePath: asset ?? "")))
    }
  }
}
