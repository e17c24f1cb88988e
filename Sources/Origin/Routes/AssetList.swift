import HTTP
import Store

/// `/api/assets`: what content teams dropped, and what became of it.
struct AssetList: Sendable {
  let store: Store
  let assets: Assets

  /// `GET /api/assets[/<richType>[/<name>]]`.
  func get(_ exchange: Exchange) async throws -> Response {
    guard exchange.caller.mayPublish else {
      throw Refusal(403, "The assets are for publishers to see.")
    }
    switch exchange.parameters.count {
    case 2: return try await one(exchange)
    case 1: return try list(exchange, exchange.parameters[0])
    default: return try list(exchange, nil)
    }
  }

  private func one(_ exchange: Exchange) async throws -> Response {
    guard let name = AssetName(exchange.parameters[1]),
      DropFolder.isRichType(exchange.parameters[0])
    else { throw Refusal(400, "That cannot be the name of an asset.") }
    return .json(200, try await assets.look(exchange.parameters[0], name).json)
  }

  private func list(_ exchange: Exchange, _ richType: String?) throws -> Response {
    let query = try exchange.query("limit", "after")
    let limit = query["limit"].map { Int($0) ?? 0 } ?? 100
    guard (1...1000).contains(limit) else {
      throw Refusal(400, "limit is a whole number from 1 to 1000.")
    }
    var after: (richType: String, name: String)?
    if let text = query["after"] {
      let parts = text.split(separator: "/", maxSplits: 1).map(String.init)
      guard parts.count == 2 else { throw Refusal(400, "after is <richType>/<name>.") }
      after = (parts[0], parts[1])
    }
    let found = try store.assets(richType: richType, limit: limit + 1, after: after)
    let page = found.prefix(limit)
    let next = found.count > limit ? page.last.map { $0.richType + "/" + $0.name } : nil
    return .json(
      200,
      JSONValue.object(["assets": .array(page.map(\.json)), "next": .optional(next)]))
  }
}
