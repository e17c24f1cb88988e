import HTTP
import PluginHost
import Store

/// What a device gets of an asset.
struct Served: Sendable {
  let type: String
  let bytes: Int
}

extension Served {
  /// An answer that is not kept has no size that anybody could rely on.
  init(_ rendered: Rendered) {
    switch rendered {
    case .content(let content): (type, bytes) = (content.mediaType, content.size)
    case .transient(let response): (type, bytes) = (response.fields["Content-Type"] ?? "", 0)
    }
  }
}

/// What is made of an asset before anybody asks: the cleaned original and every profile's rendition.
struct Preparation: Sendable {
  let subject: Subject
  let plugin: Plugin

  /// Has everything made, and says what the asset's author should know; nil when all is well.
  ///
  /// - Throws: `Refusal` when the asset can be shown to nobody, or the plugin fails.
  func advice(
    render: (Wish) async throws(Refusal) -> Served
  ) async throws(Refusal) -> String? {
    guard !plugin.manifest.perUser else { return nil }
    _ = try await render(wish(.none))
    var advice = DeviceAdvice(original: subject.pinned?.size ?? 0)
    var refusal: Refusal?
    for profile in Profile.all {
      do throws(Refusal) {
        advice.add(try await render(wish(RenditionOptions(profile))), for: profile)
      } catch {
        guard error.status == 422 else { throw error }
        advice.addMissing(profile, error.sentence)
        refusal = error
      }
    }
    if let refusal, advice.isEmpty { throw refusal }
    return advice.text
  }

  /// How many of all that is to be made are there, as `{"made":2,"of":6}`.
  func progress(in store: Store) -> JSONValue {
    let wishes = [wish(.none)] + Profile.all.map { wish(RenditionOptions($0)) }
    let made = wishes.count { store.renditions.rendition($0.key) != nil }
    return .object(["made": .number(Double(made)), "of": .number(Double(wishes.count))])
  }

  /// What is to be made of an asset.
  ///
  /// - Throws: `Refusal` 422 when its plugin or its content is gone.
  init(_ asset: Asset, in store: Store, _ validation: Validation) throws(Refusal) {
    plugin = try validation.plugin(asset.richType)
    guard let digest = asset.blob, let type = asset.type else {
      throw Refusal(422, "Its content is gone; put the file into the folder again.")
    }
    subject = Subject(
      richType: asset.richType, message: "", payload: asset.name,
      pinned: Pinned(
        digest: digest, size: asset.bytes, type: type, path: store.blobs.path(of: digest)))
  }

  private func wish(_ options: RenditionOptions) -> Wish {
    Wish(subject: subject, options: options, plugin: plugin, user: "")
  }
}
