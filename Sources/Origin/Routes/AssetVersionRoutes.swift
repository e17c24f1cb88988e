import FoundationEssentials
import HTTP
import Intake
import Media
import Primitives
import RichPushAPI
import Store

/// What assets had before they were replaced or removed.
extension AssetRoutes {
  /// `GET /api/assets/<richType>/<name>/versions`: what can be brought back, the last that was replaced first.
  func versions(_ context: RequestContext) async throws -> Response {
    let (richType, name) = try Self.path(context)
    let versions = try await versions(of: richType, name)
    if versions.isEmpty, try await store.assets.asset(richType, name.value) == nil {
      throw await assets.explaining(
        ServiceError(.notFound, "There is no asset \(name.value.quoted)."), richType, name)
    }
    return .json(200, AssetVersionList(versions: versions.map(message)))
  }

  /// `GET /api/assets/<richType>/<name>/versions/<sha256>/media`: a rendition of one of them.
  func versionMedia(_ context: RequestContext) async throws -> Response {
    let (richType, name) = try Self.path(context)
    let version = try await version(context.parameters.last, of: richType, name)
    return try await rendition(AssetRecord(version), context)
  }

  /// `POST /api/assets/<richType>/<name>/restore`: brings one of them back, without `sha256` the last one: 201 if there
  /// was no asset of this name.
  ///
  /// What the asset has already is not brought back again, so that a request with `sha256` can be repeated.
  func restore(_ context: RequestContext) async throws -> Response {
    let (richType, name) = try Self.path(context)
    let wanted =
      context.body.isEmpty
      ? nil : try JSONCoding.request(AssetRestoration.self, from: context.body).sha256
    let known = try await store.assets.asset(richType, name.value)
    if let known, let blob = known.blob, blob.hex == wanted {
      return .json(200, message(known))
    }
    guard let permit = restorations.tryPermit(context.caller.id) else {
      throw ServiceError(underWay: "restorations of assets", UserQuota.uploads)
    }
    defer { permit.end() }
    let version = try await version(wanted, of: richType, name)
    let asset = try await assets.restore(
      version, as: name, mayPublish: mayPublish(context),
      confirm: { [store] in try await store.requireCurrent(context.caller, context.login) })
    return .json(
      known == nil ? 201 : 200, asset.message(), fields: ["Location": Self.location(richType, name)]
    )
  }

  /// `GET /api/removed-assets`: what was removed and can be brought back, the last removed first, a page at a time.
  func removed(_ context: RequestContext) async throws -> Response {
    let query = try context.query("limit", "after")
    let limit = try query.number("limit", 1...1000) ?? 100
    let found = try await store.assets.removedAssets(
      endedAfter: firstKept, limit: limit + 1,
      after: query["after"].map { AssetPosition($0, hasValue: true) })
    let page = found.prefix(limit)
    let next = found.count > limit ? page.last.map(\.position) : nil
    return .json(200, RemovedAssetPage(assets: page.map(message), next: next))
  }

  /// What ended earlier is not kept.
  private var firstKept: Date { store.now().addingTimeInterval(-versionAge) }

  private func versions(
    of richType: String, _ name: AssetName
  ) async throws -> [StoredAssetVersion] {
    try await store.assets.assetVersions(richType, name.value, endedAfter: firstKept)
  }

  /// - Throws: `notFound`.
  private func version(
    _ sha256: String?, of richType: String, _ name: AssetName
  ) async throws -> StoredAssetVersion {
    let versions = try await versions(of: richType, name)
    if let found = versions.first(where: { sha256 == nil || $0.blob.hex == sha256 }) {
      return found
    }
    let reason =
      versions.isEmpty
      ? "Nothing of \(name.value.quoted) can be brought back, or not any more."
      : "\(name.value.quoted) had no such content, or it is not kept any more."
    throw ServiceError(.notFound, reason)
  }

  private func message(_ version: StoredAssetVersion) -> AssetVersion {
    var message = AssetVersion(
      richType: version.richType, name: version.name, sha256: version.blob.hex,
      bytes: version.bytes, modified: version.modified, ended: version.ended,
      until: version.ended.addingTimeInterval(versionAge))
    (message.contentType, message.alt) = (version.type, version.alt)
    message.focus = version.focus.flatMap { Asset.Focus($0) }
    return message
  }
}

extension AssetRecord {
  /// The asset as it was.
  fileprivate init(_ version: StoredAssetVersion) {
    self.init(
      richType: version.richType, name: version.name, state: .ready, bytes: version.bytes,
      modified: version.modified, stamp: "")
    (blob, type) = (version.blob, version.type)
    focus = version.focus
  }
}

extension StoredAssetVersion {
  /// The value of `after` for what comes after it.
  fileprivate var position: String {
    "\(Int((ended.timeIntervalSince1970 * 1000).rounded()))/\(richType)/\(name)"
  }
}
