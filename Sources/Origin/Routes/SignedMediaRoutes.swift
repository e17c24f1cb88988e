import FoundationEssentials
import HTTP
import Media
import PluginHost
import Push
import RichPushAPI
import Store

/// `GET /media/<id>/<rendition>?expires=…&key=…&signature=…`: media by a signed link, without a password.
///
/// In a push the link ends in `&to=<job>.<token>`, so that a fetch is recorded for that device.
struct SignedMediaRoutes: Sendable {
  let media: MediaRoutes
  let links: MediaLinks
  let resolved = ResolvedMediaCache()
  /// How long caches may keep a response, in seconds, unless its link expires before.
  ///
  /// After that, withdrawn content is no longer in any cache.
  private static let freshness = 3600
  /// The route's name in metrics.
  private static let route = "/media/{}/{}"

  /// What a link leads to, and for how many more seconds.
  private struct Opened {
    let notification: StoredNotification
    let rendition: RenditionRequest
    let seconds: Int
  }

  /// The cached media of a link; everything is verified again once a second.
  func standing(at target: String) -> ResolvedMedia? {
    let divided = PushPayload.splittingJob(target)
    let moment = Date()
    let look = media.versions.look(at: moment)
    let media = resolved.find(divided?.shared ?? target, at: moment, in: look) { media in
      guard let request = try? Request("GET", target) else { return false }
      let parameters = Array(request.segments.dropFirst())
      let opened = try? open(
        RequestContext(request: request, caller: .anybody, parameters: parameters))
      return opened?.rendition.key == media.rendition.key
    }
    guard let media, let id = media.rendition.source.id, divided != nil else { return media }
    guard let addressee = try? addressee(of: id, target) else { return nil }
    note(addressee, of: id)
    return media
  }

  /// The response if the rendition is stored.
  func ready(_ context: RequestContext) throws -> Response? {
    let (changes, look) = (resolved.changes, media.versions.look(at: Date()))
    let opened = try open(context)
    guard let stored = media.renderer.stored(opened.rendition) else { return nil }
    let content = Self.shared(Content(stored), for: opened.seconds)
    fetched(opened.notification, context)
    if context.request.method == "GET", opened.seconds > Self.freshness {
      let end = Date() + Double(opened.seconds - Self.freshness)
      resolved.put(
        ResolvedMedia(
          opened.rendition, content, at: Self.route, expires: end, seen: look,
          counts: media.renderer.counts),
        for: PushPayload.splittingJob(context.request.target)?.shared ?? context.request.target,
        unlessChangedSince: changes)
    }
    return .content(content)
  }

  /// The response once the rendition is made.
  func get(_ context: RequestContext) async throws -> Response {
    let opened = try open(context)
    let rendered = try await media.renderer.rendition(opened.rendition)
    fetched(opened.notification, context)
    if let stored = rendered.stored {
      return .content(Self.shared(Content(stored), for: opened.seconds))
    }
    var response = rendered.response
    response.fields.allowCrossOriginEmbedding()
    return response
  }

  /// Records the fetch: for the device, if the link is from a push.
  ///
  /// Any other link does not identify its user; if the notification has one recipient, the fetch is
  /// recorded for that one.
  private func fetched(_ notification: StoredNotification, _ context: RequestContext) {
    guard context.request.method == "GET" else { return }
    let target = context.request.target
    if let addressee = try? addressee(of: notification.id, target), addressee.user != nil {
      return note(addressee, of: notification.id)
    }
    guard notification.to.count == 1,
      notification.to.first?.hasPrefix(Self.oneUser) == true,
      let user = try? media.store.soleRecipient(of: notification.id)
    else { return }
    media.fetches.note(notification.id, by: user, on: context.device)
  }

  private typealias Addressee = (user: UserID?, registration: String?)

  /// The user and device of the push that carried the link; nil if it ends with no job of the notification.
  private func addressee(of id: Int, _ target: String) throws -> Addressee? {
    guard let (_, job, token) = PushPayload.splittingJob(target) else { return nil }
    return try media.store.outbox.addressee(of: job, token: token, notification: id)
  }

  private func note(_ addressee: Addressee, of id: Int) {
    if let user = addressee.user { media.fetches.note(id, by: user, on: addressee.registration) }
  }

  /// - Throws: 403, whether the signature, the key or the notification is wrong; 410 for one of ours
  ///   whose time is over.
  private func open(_ context: RequestContext) throws -> Opened {
    let (target, query) = (context.request.target, context.request.query)
    guard let id = try? context.notificationID(), let rendition = context.parameters.last,
      let expires = query["expires"].flatMap(Int.init), let key = query["key"].flatMap(Int.init),
      let notification = try media.store.notification(id), !notification.isHeld(at: Date())
    else { throw Self.forbidden }
    let linkTarget = MediaLinks.Target(
      id: id, rendition: rendition, content: RenditionSource(notification, in: media.store).content,
      expires: expires)
    let address = PushPayload.splittingJob(target)?.shared ?? target
    switch links.verify(linkTarget, key: key, link: address, now: Date()) {
    case .forged: throw Self.forbidden
    case .expired: throw ServiceError(.gone, "The address's time is over; ask for a new one.")
    case .valid(let left):
      if address != target, try addressee(of: id, target) == nil { throw Self.forbidden }
      let rendition = try media.rendition(
        notification, for: nil
      ) { plugin throws(ServiceError) in
        try RenditionOptions(name: rendition, declaring: plugin.manifest.query)
      }
      guard !rendition.plugin.manifest.perUser else { throw Self.forbidden }
      return Opened(notification: notification, rendition: rendition, seconds: left)
    }
  }

  /// Whole minutes, so that few answers differ.
  private static func shared(_ content: Content, for seconds: Int) -> Content {
    content.shared("public, max-age=\(min(freshness, seconds / 60 * 60))")
  }

  private static let oneUser = "username:"
  private static let forbidden = ServiceError(.forbidden, "Invalid or revoked link.")
}
