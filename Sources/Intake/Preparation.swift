package import Media
import PluginHost
package import RichPushAPI
package import Store

/// What a device gets of an asset.
struct DeviceRendition: Sendable {
  let type: String
  let bytes: Int
  /// Equal for equal bytes; empty if the rendition is not kept.
  let tag: String

  var isKept: Bool { !tag.isEmpty }
}

extension DeviceRendition {
  /// A rendition that is not kept has no size that one could rely on.
  init(_ media: RenderedMedia) {
    self.init(
      type: media.mediaType, bytes: media.stored?.size ?? 0, tag: media.stored?.etag ?? "")
  }
}

/// The renditions that are made of an asset before a device requests them: the original without metadata,
/// and every profile's.
package struct Preparation: Sendable {
  let source: RenditionSource
  let plugin: Plugin
  /// Whether its plugin says that it is animated.
  private let isAnimated: Bool

  /// Makes everything; returns what the asset's author should know, or nil.
  ///
  /// - Throws: Why no device can show the asset, or why the plugin did not answer.
  func advice(
    render: (RenditionRequest) async throws(ServiceError) -> DeviceRendition
  ) async throws(ServiceError) -> String? {
    guard plugin.manifest.isShared else { return nil }
    let cleaned = try await render(request(.none))
    guard cleaned.isKept else { return nil }
    var advice = DeviceAdvice(
      original: source.pinned?.size ?? 0, moving: isAnimated ? cleaned : nil)
    var refusal: ServiceError?
    for profile in Profile.all {
      do throws(ServiceError) {
        advice.add(try await render(request(RenditionOptions(profile))), for: profile)
      } catch {
        guard error.code == .rejected else { throw error }
        advice.addMissing(profile, error.reason)
        refusal = error
      }
    }
    if let refusal, advice.isEmpty { throw refusal }
    return advice.text
  }

  /// How many renditions are made, as `{"made":2,"of":6}`.
  package func progress(in store: Store) -> JSON {
    let requests = [request(.none)] + Profile.all.map { request(RenditionOptions($0)) }
    let made = requests.count { store.renditions.rendition($0.key) != nil }
    return .object(["made": .number(Double(made)), "of": .number(Double(requests.count))])
  }

  /// Describes what is to be made of an asset.
  ///
  /// - Throws: `rejected` if its plugin or its content is missing.
  package init(_ asset: AssetRecord, in store: Store, _ validator: PayloadValidator)
    throws(ServiceError)
  {
    plugin = try validator.plugin(asset.richType)
    let details = asset.details.flatMap { JSON($0.utf8) }
    isAnimated =
      if case .object(let said)? = details { said["animated"] == .bool(true) } else { false }
    guard let digest = asset.blob, let type = asset.type else {
      throw ServiceError(.rejected, "Its content is missing. Drop the file again.")
    }
    source = RenditionSource(
      richType: asset.richType, message: "", payload: asset.name,
      pinned: PinnedAsset(
        digest: digest, size: asset.bytes, type: type, path: store.blobs.path(of: digest)))
  }

  private func request(_ options: RenditionOptions) -> RenditionRequest {
    RenditionRequest(source: source, options: options, plugin: plugin)
  }
}
