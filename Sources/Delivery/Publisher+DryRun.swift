package import FoundationEssentials
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
    _ draft: Draft, sender: UserID, using usable: UsableAssets, now: Date = Date()
  ) async throws -> DryRun {
    guard let permit = await dryRuns.permit(sender) else {
      throw ServiceError(underWay: "dry runs", 1 + UserQuota.waitingDryRuns)
    }
    defer { permit.end() }
    var draft = draft
    var found = try await announcement.size(
      of: (expression: draft.audience, named: draft.namedAudience),
      withZones: draft.localTime != nil)
    guard !found.users.isEmpty || announcement.admitsGuests && !found.unknown.isEmpty else {
      throw draft.noRecipientsError(found.unknown)
    }
    let values = try await announcement.values(for: draft, among: &found)
    let times = try SendTimes(
      of: draft, for: found, found.users.sorted(), by: announcement.lanes, now: now)
    try draft.requireEnd(of: times)
    let example = found.users.min().flatMap { values.stored?[$0] } ?? [:]
    var (renditions, media) = ([DryRun.Rendition](), nil as PushedMedia?)
    var (content, details) = ("", nil as String?)
    if let named = draft.media {
      let (validated, plugin) = try await validated(named, draft, for: sender, using: usable)
      (content, details) = (validated.source.content, validated.details)
      _ = draft.take(alt: validated.alt)
      (renditions, media) = try await self.renditions(
        of: validated.source, plugin, for: sender, using: usable)
    }
    let next = try await assets.store.sent.sent(by: nil, before: nil, limit: 1).first
    let id = (next?.notification.id ?? -1) + 1
    var result = DryRun(
      audience: AudienceSize(found, announcement, approveAbove: approveAbove),
      renditions: renditions,
      texts: announcement.texts(of: draft, example, id, from: sender, content, details, media),
      warnings: draft.message.localizations.map { $0.personalized(with: example) }
        .flatMap(\.warnings))
    result.times = times.flatMap { DryRun.Times($0, of: draft, at: now) }
    result.skipped = try await skipped(values)
    return result
  }

  /// Who is left out for want of a value.
  private func skipped(_ values: Announcement.Values) async throws -> DryRun.Skipped? {
    if values.skipped.isEmpty { return nil }
    let listed = values.skipped.prefix(100)
    let names = try await store.accounts.names(of: listed.map(\.user))
    return DryRun.Skipped(
      count: values.skipped.count,
      users: listed.compactMap { user, placeholder in
        names[user].map { .init(username: $0, placeholder: placeholder) }
      })
  }

  /// What each profile makes of the media, and what pushes would have a link to.
  private func renditions(
    of source: RenditionSource, _ plugin: Plugin, for sender: UserID, using usable: UsableAssets
  ) async throws(ServiceError) -> ([DryRun.Rendition], PushedMedia) {
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
    return (renditions, PushedMedia(renditions: stored))
  }
}

extension DryRun.Times {
  /// Nil if there are no users.
  fileprivate init?(_ times: SendTimes, of draft: Draft, at now: Date) {
    guard let first = times.users.keys.min() else { return nil }
    let past = draft.localTime == nil ? [:] : times.users.filter { $0.key <= now }
    let passed = past.values.reduce(0) { $0 + $1.count }
    self.init(first: first, last: times.last, passed: passed)
  }
}

extension PlatformMembers {
  fileprivate init(_ platform: String, _ message: NotificationMessage, _ members: MessageMembers) {
    func names(_ isIncluded: (MessageMember) -> Bool) -> [String] {
      message.present.filter(isIncluded).map(\.stringValue)
    }
    self.init(
      platform: platform, shown: names(members.shown.contains),
      carried: names(members.carried.contains),
      dropped: names { !members.shown.contains($0) && !members.carried.contains($0) },
      reports: members.reports(of: message))
  }
}

extension Announcement {
  /// What each platform makes of a message.
  package func members(of message: NotificationMessage, in form: PushForm) -> [PlatformMembers] {
    services.map { PlatformMembers($0, message, lanes.format(of: $1).members(in: form)) }
  }

  /// The platforms that services with lanes and payloads are made for, each with the first that is: of this server's, or of all.
  private var services: [(platform: String, service: any PushService.Type)] {
    func made(_ services: [any PushService.Type]) -> [(String, any PushService.Type)] {
      services.filter { $0.traits.lanes != .none && $0.traits.hasPayload }
        .compactMap { service in service.traits.platforms.first.map { ($0.name, service) } }
    }
    let own = made(lanes.all)
    return made(PushServices.all).reduce(into: []) { found, next in
      guard !found.contains(where: { $0.platform == next.0 }) else { return }
      found.append(own.first { $0.0 == next.0 } ?? next)
    }
  }

  /// The payloads of the draft's pushes by platform; `details` are those of its media.
  fileprivate func texts(
    of draft: Draft, _ values: [String: String], _ id: Int, from sender: UserID,
    _ content: String, _ details: String?, _ media: PushedMedia?
  ) -> [DryRun.Text] {
    let isLegacy = draft.form == .legacy
    let messages = isLegacy ? [draft.message] : draft.message.localizations
    return messages.flatMap { message in
      texts(
        of: draft, isLegacy ? message : message.personalized(with: values), id, from: sender,
        content, details, media)
    }
  }

  /// The payloads of the draft's pushes that say a message, by platform.
  private func texts(
    of draft: Draft, _ said: NotificationMessage, _ id: Int, from sender: UserID,
    _ content: String, _ details: String?, _ media: PushedMedia?
  ) -> [DryRun.Text] {
    services.map { platform, service in
      let link = media?.link(
        of: id, content, expires: draft.expires, by: links, through: service)
      let format = lanes.format(of: service)
      var message = draft.pushMessage(id, from: sender, media: link, details: details)
      message.message = said
      let template = format.payload(of: message)
      let payload = JSONValue(template.payload().json.utf8) ?? .null
      let body =
        payload.aps.alert.body.text ?? payload.richMessage.text ?? payload.data.richMessage.text
        ?? payload.notification.body.text
      var text = DryRun.Text(
        platform: platform, body: body ?? "", bytes: template.largestSize,
        limit: service.traits.largestPayload, cut: template.isCut,
        members: PlatformMembers(platform, said, format.members(in: draft.form)),
        payload: payload)
      text.language = draft.message.languages == nil ? nil : said.language
      return text
    }
  }
}

extension NotificationMessage {
  /// Where screens cut it, in sentences.
  fileprivate var warnings: [String] {
    let places = [
      (49, "Android shows about 49 of them until the notification is opened"),
      (100, "an iPhone's list of notifications about 100"),
      (160, "its lock screen about 160"),
    ].filter { text.count > $0.0 }.map(\.1)
    var warnings: [String] = []
    if let title, title.count > 40 {
      warnings.append("title has \(title.count) characters; an iPhone shows about 40.")
    }
    if !places.isEmpty {
      warnings.append("message has \(text.count) characters: \(places.joined(separator: ", ")).")
    }
    return warnings
  }
}

extension DryRun.Rendition {
  /// The largest content that is in the response itself, in bytes.
  private static let largestData = 65_536

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
    } else if source.pinned == nil, bytes <= Self.largestData {
      let content: Data? =
        switch rendered {
        case .stored(let media): try? Data(contentsOf: URL(filePath: media.path))
        case .transient(let media): Data(media.bytes)
        case .redirect: nil
        }
      data = content?.base64EncodedString()
    }
  }

  fileprivate init(_ profile: Profile, _ error: ServiceError) {
    self.init(profile: profile.name, status: .refused, limit: profile.maxBytes)
    reason = error.reason
  }
}

extension AudienceSize {
  /// The numbers of addressees, whether they are more than may be sent to without approval, and when pushes wait.
  package init(
    _ found: Announcement.Addressees, _ announcement: Announcement, approveAbove: Int?
  ) {
    let counts = found.devices.counts.compactMap { platform, count in platform.map { ($0, count) } }
    self.init(
      users: found.users.count, devices: Dictionary(uniqueKeysWithValues: counts),
      unknown: found.unknown)
    let guests = announcement.admitsGuests ? found.unknown.count : 0
    if let approveAbove, found.users.count + guests > approveAbove { needsApproval = true }
    quietHours = announcement.store.rules.quietPeriod.map {
      QuietHours(from: $0.from, until: $0.until)
    }
  }
}
