import HTTP
import Intake
import Media
import RichPushAPI
import PluginHost
import Store

/// `/api/assets`: the files that content teams dropped, with their states.
struct AssetRoutes: Sendable {
  let store: Store
  let assets: AssetIntake

  /// `GET /api/assets[/<richType>]`: the catalogue by rich type and name, a page at a time.
  func list(_ context: RequestContext) async throws -> Response {
    try Self.name(context)
    let query = try context.query("limit", "after", "state")
    let limit = query["limit"].map { Int($0) ?? 0 } ?? 100
    guard (1...1000).contains(limit) else {
      throw ServiceError(.invalidRequest, "limit is a whole number from 1 to 1000.")
    }
    let state = try query["state"].map { text throws(ServiceError) in
      guard let state = AssetRecord.State(rawValue: text) else {
        throw ServiceError(.invalidRequest, "state is ready, preparing or refused.")
      }
      return state
    }
    // A text without a slash sorts before all names of that rich type, an empty one before everything.
    let after = query["after"].map { text in
      let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
      return (richType: String(parts[0]), name: parts.count == 2 ? String(parts[1]) : "")
    }
    if let richType = context.parameters.first, richType != DropFolder.publishFolderName,
      try store.assetCounts(richType: richType).isEmpty
    {
      try checkPlugin(of: richType)
    }
    let found = try store.assets(
      richType: context.parameters.first, state: state, limit: limit + 1, after: after)
    let page = found.prefix(limit)
    let next = found.count > limit ? page.last.map { $0.richType + "/" + $0.name } : nil
    var answer: [String: JSON] = [
      "assets": .array(page.map(shown)), "next": .optional(next),
    ]
    if after == nil { answer["counts"] = try counts(context.parameters.first) }
    return .json(200, JSON.object(answer))
  }

  /// - Throws: `ServiceError` 404 that lists the rich types there are.
  private func checkPlugin(of richType: String) throws(ServiceError) {
    do { _ = try assets.validator.plugin(richType) } catch {
      throw ServiceError(.notFound, error.reason)
    }
  }

  /// The asset, with the progress of its preparation.
  private func shown(_ asset: AssetRecord) -> JSON {
    guard asset.state == .preparing, asset.blob != nil,
      let preparation = try? Preparation(asset, in: store, assets.validator)
    else { return asset.json }
    return asset.json.with("progress", preparation.progress(in: store))
  }

  /// The number of assets in each state.
  private func counts(_ richType: String?) throws -> JSON {
    let counts = try store.assetCounts(richType: richType)
    return .object(
      Dictionary(
        uniqueKeysWithValues: [AssetRecord.State.ready, .preparing, .refused].map {
          ($0.rawValue, .number(Double(counts[$0] ?? 0)))
        }))
  }

  /// `GET /api/assets/<richType>/<name>`: one asset, as the folder has it now.
  func one(_ context: RequestContext) async throws -> Response {
    let (richType, name) = try Self.name(context)
    return .json(200, shown(try await assets.examine(richType, name).asset))
  }

  /// `PUT /api/assets/<richType>/<name>`: 201 for a new name, 200 for new content.
  ///
  /// A file that the plugin refuses changes nothing.
  func put(_ context: RequestContext) async throws -> Response {
    let (richType, name) = try Self.name(context)
    try checkPlugin(of: richType)
    guard let file = context.file, file.size > 0 else {
      throw ServiceError(.invalidRequest, "The body is empty.")
    }
    guard !AssetName.isTemporary(name.value) else {
      throw ServiceError(
        .rejected, "\(name.value.quoted) looks like a temporary file. Rename it.")
    }
    let isNew = try store.asset(richType, name.value) == nil
    let asset = try await assets.put(file.path, richType, name)
    return .json(isNew ? 201 : 200, asset.json, fields: ["Location": context.request.target])
  }

  /// `DELETE /api/assets/<richType>/<name>`: removes the name; notifications keep its content.
  func delete(_ context: RequestContext) async throws -> Response {
    let (richType, name) = try Self.name(context)
    try assets.folder.remove(richType, name)
    try await assets.forget(richType, name.value)
    return .empty(204)
  }

  /// The rich type and the name in the path, if they can be an asset's.
  @discardableResult private static func name(
    _ context: RequestContext
  ) throws(ServiceError) -> (richType: String, name: AssetName) {
    let richType = context.parameters.first ?? "any"
    guard Plugin.isValidName(richType) else {
      throw ServiceError(
        .invalidRequest, "\(richType.quoted) cannot be a rich type: [a-z][a-z0-9-]{0,31}.")
    }
    let text = context.parameters.dropFirst().first ?? "any"
    guard let name = AssetName(text) else {
      throw ServiceError(
        .invalidRequest, AssetName.problem(with: text) ?? "It is not a file's name.")
    }
    return (richType, name)
  }
}
