import FoundationEssentials
import HTTP
import Media
import PluginHost
import Primitives
import Push
import RichPushAPI
import Store

/// `GET /media/<id>/<rendition>?expires=…&key=…&signature=…`: media by a signed link, without password.
///
/// In a push the link ends in `&to=<job>.<token>`, so that a fetch is recorded for that device; a link that a reader of
/// another program's API gets names its recipient as well (`&for=…`).
struct SignedMediaRoutes: Sendable {
  let media: MediaRoutes
  let links: MediaLinks
  let resolved: ResolvedMediaCache
  /// How long caches may keep a response, in seconds, unless its link expires before: withdrawn
  /// content may be served from caches for that long.
  private static let freshness = 3600

  /// The response once the rendition is rendered.
  func get(_ context: RequestContext) async throws -> Response {
    let target = context.request.target
    let id = try Self.id(context)
    let named = links.splitting(target, of: id)
    let link = named?.shared ?? JobSuffix.splitting(target)?.shared ?? target
    let moment = resolved.changes.moment
    let addressee: Addressee? =
      if let named { (named.recipient.user, named.recipient.device) } else {
        try await addressee(of: id, target)
      }
    if link != target, addressee == nil { throw Self.forbidden }
    let now = Date().second
    if let known = resolved.find(link, at: now), let content = known.storedContent(at: now) {
      // A recipient that the link itself names was not looked for in the database.
      if addressee != nil, named == nil { known.renew(moment) }
      known.recordUse()
      record(context, id, addressee?.user, on: addressee?.registration)
      return Self.response(content, of: known, at: now)
    }
    let (notification, rendition, left) = try await open(link, id, context)
    let pending = media.media(
      of: notification, rendition, nil,
      expires: Date() + Double(left - Self.freshness), readAfter: moment, resolved)
    let rendered = try await media.render(pending, for: nil)
    try await recordFetch(of: notification, context, addressee)
    guard let stored = rendered.stored else {
      var response = rendered.response
      response.fields.allowCrossOriginEmbedding()
      return response
    }
    let content = Self.shared(Content(stored), for: left)
    // Later, each response has another Cache-Control.
    guard left > Self.freshness, context.request.method == "GET" else { return .content(content) }
    let resolvedMedia = ResolvedMedia(pending, content: content)
    resolved.insert(resolvedMedia, for: link)
    return Self.response(content, of: resolvedMedia, at: now)
  }

  private static func response(
    _ content: Content, of media: ResolvedMedia, at now: Int
  ) -> Response {
    var response = Response.content(content)
    response.cached = CachedMedia(media, for: nil, at: now)
    return response
  }

  /// Records the fetch: for the device, if the link is from a push.
  ///
  /// Any other link does not identify its user; if the notification has one recipient, the fetch is
  /// recorded for that one.
  private func recordFetch(
    of notification: StoredNotification, _ context: RequestContext, _ addressee: Addressee?
  ) async throws {
    if let addressee, addressee.user != nil {
      return record(context, notification.id, addressee.user, on: addressee.registration)
    }
    guard notification.to.count == 1, notification.to.first?.hasPrefix(Self.oneUser) == true
    else { return }
    let user = try await media.store.notifications.soleRecipient(of: notification.id)
    record(context, notification.id, user, on: context.device)
  }

  private func record(
    _ context: RequestContext, _ id: Int, _ user: UserID?, on device: String?
  ) {
    guard context.request.method == "GET", let user else { return }
    media.store.notifications.recordFetched(id, user: user, device: device)
  }

  private typealias Addressee = (user: UserID?, registration: String?)

  /// The user and device of the push that carried the link; nil if it ends with no job of the notification.
  private func addressee(of id: Int, _ target: String) async throws -> Addressee? {
    guard let suffix = JobSuffix.splitting(target)?.suffix else { return nil }
    return try await media.store.outbox.addressee(
      of: suffix.job, token: suffix.token, notification: id)
  }

  private static func id(_ context: RequestContext) throws(ServiceError) -> Int {
    guard let id = try? context.notificationID() else { throw forbidden }
    return id
  }

  /// Verifies a link, and returns what it leads to and for how many seconds.
  ///
  /// - Throws: `forbidden` whether the signature, the key or the notification is wrong; `gone` for a
  ///   valid link that has expired.
  private func open(
    _ link: String, _ id: Int, _ context: RequestContext
  ) async throws -> (StoredNotification, RenditionRequest, Int) {
    let query = context.request.query
    guard let name = context.parameters.last,
      let expires = query["expires"].flatMap(Int.init), let key = query["key"].flatMap(Int.init),
      let notification = try await media.store.notifications.notification(id),
      !notification.isHeld(at: Date())
    else { throw Self.forbidden }
    let target = MediaLinks.Target(
      id: id, rendition: name, content: RenditionSource(notification, in: media.store).content,
      expires: expires)
    switch links.verify(target, key: key, link: link, now: Date()) {
    case .forged: throw Self.forbidden
    case .expired: throw ServiceError(.gone, "The link has expired; request a new one.")
    case .valid(let left):
      let rendition = try media.rendition(notification, for: nil) { plugin throws(ServiceError) in
        try RenditionOptions(name: name, declaring: plugin.manifest.query)
      }
      guard !rendition.plugin.manifest.perUser else { throw Self.forbidden }
      return (notification, rendition, left)
    }
  }

  // Whole minutes, so that few responses differ.
  private static func shared(_ content: Content, for seconds: Int) -> Content {
    content.shared("public, max-age=\(min(freshness, seconds / 60 * 60))")
  }

  private static let oneUser = "username:"
  private static let forbidden = ServiceError(.forbidden, "Invalid or revoked link.")
}
