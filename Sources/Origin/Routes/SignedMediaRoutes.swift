import FoundationEssentials
import HTTP
import Media
import PluginHost
import Push
import RichPushAPI
import Store

/// `GET /media/<id>/<rendition>?expires=…&key=…&signature=…`: media by a signed link, without password.
///
/// In a push the link ends in `&to=<job>.<token>`, so that a fetch is recorded for that device.
struct SignedMediaRoutes: Sendable {
  let media: MediaRoutes
  let links: MediaLinks
  let resolved = ResolvedMediaCache()
  /// How long caches may keep a response, in seconds, unless its link expires before: withdrawn
  /// content may be served from caches for that long.
  private static let freshness = 3600
  /// The route's name in metrics.
  private static let route = "/media/{}/{}"

  /// What a valid link leads to.
  private struct Opened {
    let notification: StoredNotification
    let rendition: RenditionRequest
    let secondsLeft: Int
  }

  /// The cached response to a GET of the link; nil on a miss.
  ///
  /// The link is verified again in each epoch.
  func cachedResponse(for target: String) -> ResolvedMedia? {
    let job = PushPayload.splittingJob(target)
    let now = Date()
    let epoch = media.versions.epoch(at: now)
    let media = resolved.find(job?.shared ?? target, at: now, in: epoch) { media in
      guard let request = try? Request("GET", target) else { return false }
      let parameters = Array(request.segments.dropFirst())
      let opened = try? open(
        RequestContext(request: request, caller: .anybody, parameters: parameters))
      return opened?.rendition.key == media.rendition.key
    }
    guard let media, let id = media.rendition.source.id, job != nil else { return media }
    guard let addressee = try? addressee(of: id, target) else { return nil }
    record(addressee, of: id)
    return media
  }

  /// The response if the rendition is stored.
  func ready(_ context: RequestContext) throws -> Response? {
    let (changes, epoch) = (resolved.changes, media.versions.epoch(at: Date()))
    let opened = try open(context)
    guard let stored = media.renderer.stored(opened.rendition) else { return nil }
    let content = Self.shared(Content(stored), for: opened.secondsLeft)
    recordFetch(of: opened.notification, context)
    if context.request.method == "GET", opened.secondsLeft > Self.freshness {
      let end = Date() + Double(opened.secondsLeft - Self.freshness)
      resolved.insert(
        ResolvedMedia(
          opened.rendition, content, at: Self.route, expires: end, epoch: epoch,
          counts: media.renderer.counts),
        for: PushPayload.splittingJob(context.request.target)?.shared ?? context.request.target,
        unlessChangedSince: changes)
    }
    return .content(content)
  }

  /// The response once the rendition is rendered.
  func get(_ context: RequestContext) async throws -> Response {
    let opened = try open(context)
    let rendered = try await media.renderer.rendition(opened.rendition)
    recordFetch(of: opened.notification, context)
    if let stored = rendered.stored {
      return .content(Self.shared(Content(stored), for: opened.secondsLeft))
    }
    var response = rendered.response
    response.fields.allowCrossOriginEmbedding()
    return response
  }

  /// Records the fetch: for the device, if the link is from a push.
  ///
  /// Any other link does not identify its user; if the notification has one recipient, the fetch is
  /// recorded for that one.
  private func recordFetch(of notification: StoredNotification, _ context: RequestContext) {
    guard context.request.method == "GET" else { return }
    let target = context.request.target
    if let addressee = try? addressee(of: notification.id, target), addressee.user != nil {
      return record(addressee, of: notification.id)
    }
    guard notification.to.count == 1,
      notification.to.first?.hasPrefix(Self.oneUser) == true,
      let user = try? media.store.loopReads.soleRecipient(of: notification.id)
    else { return }
    media.fetches.record(notification.id, by: user, on: context.device)
  }

  private typealias Addressee = (user: UserID?, registration: String?)

  /// The user and device of the push that carried the link; nil if it ends with no job of the notification.
  private func addressee(of id: Int, _ target: String) throws -> Addressee? {
    guard let (_, job, token) = PushPayload.splittingJob(target) else { return nil }
    return try media.store.loopReads.addressee(of: job, token: token, notification: id)
  }

  private func record(_ addressee: Addressee, of id: Int) {
    if let user = addressee.user { media.fetches.record(id, by: user, on: addressee.registration) }
  }

  /// Verifies a link.
  ///
  /// - Throws: `forbidden` whether the signature, the key or the notification is wrong; `gone` for a
  ///   valid link that has expired.
  private func open(_ context: RequestContext) throws -> Opened {
    let (target, query) = (context.request.target, context.request.query)
    guard let id = try? context.notificationID(), let rendition = context.parameters.last,
      let expires = query["expires"].flatMap(Int.init), let key = query["key"].flatMap(Int.init),
      let notification = try media.store.loopReads.notification(id),
      !notification.isHeld(at: Date())
    else { throw Self.forbidden }
    let linkTarget = MediaLinks.Target(
      id: id, rendition: rendition, content: RenditionSource(notification, in: media.store).content,
      expires: expires)
    let link = PushPayload.splittingJob(target)?.shared ?? target
    switch links.verify(linkTarget, key: key, link: link, now: Date()) {
    case .forged: throw Self.forbidden
    case .expired: throw ServiceError(.gone, "The link has expired; request a new one.")
    case .valid(let left):
      if link != target, try addressee(of: id, target) == nil { throw Self.forbidden }
      let rendition = try media.rendition(notification, for: nil) { plugin throws(ServiceError) in
        try RenditionOptions(name: rendition, declaring: plugin.manifest.query)
      }
      guard !rendition.plugin.manifest.perUser else { throw Self.forbidden }
      return Opened(notification: notification, rendition: rendition, secondsLeft: left)
    }
  }

  // Whole minutes, so that few responses differ.
  private static func shared(_ content: Content, for seconds: Int) -> Content {
    content.shared("public, max-age=\(min(freshness, seconds / 60 * 60))")
  }

  private static let oneUser = "username:"
  private static let forbidden = ServiceError(.forbidden, "Invalid or revoked link.")
}
