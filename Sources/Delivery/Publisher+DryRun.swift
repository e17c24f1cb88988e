import FoundationEssentials
import Intake
import Media
import PluginHost
import Primitives
import Push
package import RichPushAPI
package import Store

extension Publisher {
  /// What publishing the draft would do: it is checked and rendered, nothing is stored but the renditions, and
  /// nothing is sent.
  ///
  /// One at a time for each user. Throws what publishing would throw, and `tooManyRequests` if too many of the user
  /// wait.
  package func dryRun(
    _ draft: Draft, sender: UserID, using usable: UsableAssets
  ) async throws -> DryRun {
    guard let permit = await dryRuns.permit(sender) else {
      throw ServiceError(underWay: "dry runs", 1 + UserQuota.waitingDryRuns)
    }
    defer { permit.end() }
    let found = try await announcement.size(of: draft.audience)
    guard !found.users.isEmpty || announcement.admitsGuests && !found.unknown.isEmpty else {
      throw draft.noRecipientsError(found.unknown)
    }
    let (_, source, plugin) = try await validated(draft, for: sender, using: usable)
    var renditions: [DryRun.Rendition] = []
    var stored: [String: StoredMedia] = [:]
    // The original has to be accepted, as by `publish`.
    for profile in [nil] + Profile.all.map(Optional.some) where plugin.manifest.isShared {
      do throws(ServiceError) {
        let rendered = try await renderer.rendition(
          RenditionRequest(
            source: source, options: profile.map(RenditionOptions.init) ?? .none, plugin: plugin),
          for: sender)
        guard let profile else { continue }
        stored[profile.name] = rendered.stored
        var rendition = DryRun.Rendition(profile, rendered, of: source)
        // The asset may have other content now, which only those may see who can use all.
        if usable != .all { rendition.url = nil }
        renditions.append(rendition)
      } catch {
        guard let profile, error.code == .rejected else { throw error }
        renditions.append(DryRun.Rendition(profile, error))
      }
    }
    let media = PushedMedia(stored, of: source, for: draft, now: Date())
    let next = try await assets.store.sent.sent(by: nil, before: nil, limit: 1).first
    let id = (next?.notification.id ?? -1) + 1
    return DryRun(
      audience: AudienceSize(found), renditions: renditions,
      texts: announcement.texts(of: draft, id, media))
  }
}

extension Announcement {
  /// The services with lanes by the platform that they are made for, the first of each.
  private static let services = PushServices.all.filter { $0.traits.lanes != .none }
    .compactMap { service in service.traits.platforms.first.map { ($0.name, service) } }
    .reduce(into: [(platform: String, service: any PushService.Type)]()) { found, next in
      if !found.contains(where: { $0.platform == next.0 }) { found.append(next) }
    }

  /// The payloads of the draft's pushes by platform.
  fileprivate func texts(of draft: Draft, _ id: Int, _ media: PushedMedia?) -> [DryRun.Text] {
    Self.services.map { platform, service in
      let link = media?.link(of: id, by: links, through: service)
      let content = draft.content(id, media: link)
      let text = service.payload(of: .announcement(content, as: draft.form)).json
      let payload = JSONValue(text.utf8) ?? .null
      let body = payload.aps.alert.body.text ?? payload.richMessage.text ?? ""
      return DryRun.Text(
        platform: platform, body: body, bytes: text.utf8.count,
        limit: service.traits.largestPayload, cut: body != draft.message, payload: payload)
    }
  }
}

extension DryRun.Rendition {
  fileprivate init(_ profile: Profile, _ rendered: RenderedMedia, of source: RenditionSource) {
    let bytes =
      switch rendered {
      case .stored(let media): media.size
      case .transient(let media): media.bytes.count
      case .redirect: 0
      }
    self.init(
      profile: profile.name, status: .ready, limit: profile.limit(of: rendered.mediaType))
    (contentType, self.bytes) = (rendered.mediaType, bytes)
    if source.pinned != nil, AssetName(source.payload) != nil {
      let name = PercentEncoding.encode(source.payload)
      url = "/api/assets/\(source.richType)/\(name)/media?profile=\(profile.name)"
    }
  }

  fileprivate init(_ profile: Profile, _ error: ServiceError) {
    self.init(profile: profile.name, status: .refused, limit: profile.maxBytes)
    reason = error.reason
  }
}

extension AudienceSize {
  /// The numbers of addressees.
  package init(_ found: Announcement.Addressees) {
    let counts = found.devices.counts.compactMap { platform, count in platform.map { ($0, count) } }
    self.init(
      users: found.users.count, devices: Dictionary(uniqueKeysWithValues: counts),
      unknown: found.unknown)
  }
}
