import HTTP
import PluginHost
import Store

/// `/api/assets`: what content teams dropped, and what became of it.
struct AssetRoutes: Sendable {
  let store: Store
  let assets: Assets

  /// `GET /api/assets[/<richType>]`: the catalogue by rich type and name, a page at a time.
  func list(_ exchange: Exchange) async throws -> Response {
    try Self.name(exchange)
    let query = try exchange.query("limit", "after", "state")
    let limit = query["limit"].map { Int($0) ?? 0 } ?? 100
    guard (1...1000).contains(limit) else {
      throw Refusal(400, "limit is a whole number from 1 to 1000.")
    }
    let state = try query["state"].map { text throws(Refusal) in
      guard let state = Asset.State(rawValue: text) else {
        throw Refusal(400, "state is ready, preparing or refused.")
      }
      return state
    }
    var after: (richType: String, name: String)?
    if let text = query["after"] {
      let parts = text.split(separator: "/", maxSplits: 1).map(String.init)
      guard parts.count == 2 else { throw Refusal(400, "after is <richType>/<name>.") }
      after = (parts[0], parts[1])
    }
    let found = try store.assets(
      richType: exchange.parameters.first, state: state, limit: limit + 1, after: after)
    let page = found.prefix(limit)
    let next = found.count > limit ? page.last.map { $0.richType + "/" + $0.name } : nil
    var answer: [String: JSONValue] = [
      "assets": .array(page.map(shown)), "next": .optional(next),
    ]
    if after == nil { answer["counts"] = try counts(exchange.parameters.first) }
    return .json(200, JSONValue.object(answer))
  }

  /// The asset, with how far its preparation has come.
  private func shown(_ asset: Asset) -> JSONValue {
    guard asset.state == .preparing, asset.blob != nil,
      let preparation = try? Preparation(asset, in: store, assets.validation)
    else { return asset.json }
    return asset.json.with("progress", preparation.progress(in: store))
  }

  /// How far the whole of it has come.
  private func counts(_ richType: String?) throws -> JSONValue {
    let counts = try store.assetCounts(richType: richType)
    return .object(
      Dictionary(
        uniqueKeysWithValues: [Asset.State.ready, .preparing, .refused].map {
          ($0.rawValue, .number(Double(counts[$0] ?? 0)))
        }))
  }

  /// `GET /api/assets/<richType>/<name>`: one asset, as the folder has it now.
  func one(_ exchange: Exchange) async throws -> Response {
    let (richType, name) = try Self.name(exchange)
    return .json(200, shown(try await assets.look(richType, name)))
  }

  /// `PUT /api/assets/<richType>/<name>`: 201 for a new name, 200 for new content.
  ///
  /// A file that the plugin refuses changes nothing.
  func put(_ exchange: Exchange) async throws -> Response {
    let (richType, name) = try Self.name(exchange)
    guard let file = exchange.file, file.size > 0 else { throw Refusal(400, "The body is empty.") }
    guard !AssetName.isTemporary(name.value) else {
      throw Refusal(400, "\(name.value.quoted) is passed over: it looks like a temporary file's.")
    }
    let isNew = try store.asset(richType, name.value) == nil
    let asset = try await assets.put(file.path, richType, name)
    return .json(isNew ? 201 : 200, asset.json, fields: ["Location": exchange.request.target])
  }

  /// `DELETE /api/assets/<richType>/<name>`: the name is gone, notifications keep its content.
  func delete(_ exchange: Exchange) async throws -> Response {
    let (richType, name) = try Self.name(exchange)
    try assets.folder.remove(richType, name)
    try await assets.forget(richType, name.value)
    return .empty(204)
  }

  /// The rich type and the name in the path, if they can be an asset's.
  @discardableResult private static func name(
    _ exchange: Exchange
  ) throws(Refusal) -> (richType: String, name: AssetName) {
    let richType = exchange.parameters.first ?? "any"
    guard Plugin.isName(richType),
      let name = AssetName(exchange.parameters.dropFirst().first ?? "any")
    else { throw Refusal(400, "That cannot be the name of an asset.") }
    return (richType, name)
  }
}
