import FoundationEssentials
import HTTP
import PluginHost
import Store

/// `GET /api/notifications/<id>`: what the phone shows.
struct Media: Sendable {
  let store: Store
  let host: PluginHost
  let renderer: Renderer
  let fetches: Fetches
  let glance: PluginGlance
  let offers = Offers()

  /// What the measurements call this place.
  private static let route = "/api/notifications/{}"

  /// What stands for a recipient who asks for the target; a caller who did before costs no query.
  func standing(at target: String, for user: UserID) -> Offer? {
    guard let offer = offer(at: target), offer.content != nil, let id = offer.wish.subject.id
    else { return nil }
    if !fetches.isNoted(id, by: user, on: nil) {
      guard (try? store.isRecipient(id, user: user)) == true else { return nil }
      fetches.note(id, by: user, on: nil)
    }
    return offer
  }

  private func offer(at target: String) -> Offer? {
    let moment = Date()
    let look = glance.look(at: moment)
    return offers.find(target, at: moment, in: look) { glance.isCurrent($0.wish.plugin, in: look) }
  }

  /// The answer when nothing must be waited for: a stored rendition, or a refusal.
  func ready(_ exchange: Exchange) throws -> Response? {
    let offer = try admit(exchange)
    let stored = offer.isMadeEachTime ? nil : renderer.stored(offer.wish)
    guard let rendered = try stored.map(Rendered.content) ?? renderer.renderedAtOnce(offer.wish)
    else { return nil }
    return give(rendered, of: offer, to: exchange)
  }

  /// The answer once the rendition is made.
  func get(_ exchange: Exchange) async throws -> Response {
    let offer = try admit(exchange)
    return give(try await renderer.rendered(offer.wish), of: offer, to: exchange)
  }

  private func give(_ rendered: Rendered, of offer: Offer, to exchange: Exchange) -> Response {
    if let id = offer.wish.subject.id { fetched(id, exchange) }
    offers.fulfil(offer, with: rendered.content, for: exchange.request.target)
    return rendered.response
  }

  /// What was decided for whoever asked the same before, or is decided now.
  ///
  /// - Throws: `Refusal` when it is not the caller's.
  private func admit(_ exchange: Exchange) throws -> Offer {
    if let offer = offer(at: exchange.request.target), let id = offer.wish.subject.id {
      if !fetches.isNoted(id, by: exchange.caller.id, on: exchange.device) {
        guard try store.isRecipient(id, user: exchange.caller.id) else {
          throw Refusal.noNotification
        }
      }
      return offer
    }
    let (changes, look) = (offers.changes, glance.look(at: Date()))
    let (notification, wish) = try wish(exchange)
    let offer = Offer(
      wish, nil, at: Self.route, expires: notification.expires, seen: look,
      counts: renderer.counts)
    offers.put(offer, for: exchange.request.target, unlessChangedSince: changes)
    return offer
  }

  private func fetched(_ id: Int, _ exchange: Exchange) {
    guard exchange.request.method == "GET" else { return }
    fetches.note(id, by: exchange.caller.id, on: exchange.device)
  }

  private func wish(_ exchange: Exchange) throws -> (RichNotification, Wish) {
    let id = try exchange.notificationID()
    guard let notification = try store.notification(id), !notification.isHeld(at: Date()),
      try store.isRecipient(id, user: exchange.caller.id)
    else { throw Refusal.noNotification }
    let wish = try wish(notification, for: exchange.caller) { plugin throws(Refusal) in
      try RenditionOptions(
        exchange.request.query, declaring: plugin.manifest.query,
        defaults: plugin.manifest.defaults)
    }
    return (notification, wish)
  }

  /// A notification's content, for a user if one asks, with the options that its plugin understands.
  func wish(
    _ notification: RichNotification, for caller: Caller?,
    options: (Plugin) throws(Refusal) -> RenditionOptions
  ) throws(Refusal) -> Wish {
    guard let plugin = host.plugin(notification.richType) else {
      throw Refusal(
        503, "The plugin for \(notification.richType.quoted) is not installed any more.",
        retryAfter: 60)
    }
    return Wish(
      subject: Subject(notification, in: store), options: try options(plugin), plugin: plugin,
      user: caller?.name ?? "", owner: caller?.id)
  }
}

extension Subject {
  init(_ notification: RichNotification, in store: Store) {
    self.init(
      richType: notification.richType, message: notification.message,
      payload: notification.payload, id: notification.id,
      pinned: notification.blob.map { blob in
        Pinned(
          digest: blob.digest, size: blob.size,
          type: notification.blobType ?? "application/octet-stream",
          path: store.blobs.path(of: blob.digest))
      })
  }
}
