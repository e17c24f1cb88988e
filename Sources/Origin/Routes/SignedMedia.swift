import FoundationEssentials
import HTTP
import PluginHost
import Push
import Store

/// `GET /media/<id>/<rendition>?expires=…&key=…&signature=…`: media for whoever holds the address.
///
/// In a push the address ends in `&to=<job>.<token>`: a fetch then is that device's.
struct SignedMedia: Sendable {
  let media: Media
  let links: MediaLinks
  let offers = Offers()
  /// Caches may keep an answer so long, in seconds, unless its address ends before: what is
  /// withdrawn is gone from them after that.
  private static let freshness = 3600
  /// What the measurements call this place.
  private static let route = "/media/{}/{}"

  /// What an address opens, and for how many seconds.
  private struct Opened {
    let notification: RichNotification
    let wish: Wish
    let seconds: Int
  }

  /// What stands at an address: nothing but its text is looked at, and once in a look everything is.
  func standing(at target: String) -> Offer? {
    let divided = PushText.divided(target)
    let moment = Date()
    let look = media.glance.look(at: moment)
    let offer = offers.find(divided?.shared ?? target, at: moment, in: look) { offer in
      guard let request = try? Request("GET", target) else { return false }
      let parameters = Array(request.segments.dropFirst())
      let opened = try? open(
        Exchange(request: request, caller: .anybody, parameters: parameters))
      return opened?.wish.key == offer.wish.key
    }
    guard let offer, let id = offer.wish.subject.id, divided != nil else { return offer }
    guard let addressee = try? addressee(of: id, target) else { return nil }
    note(addressee, of: id)
    return offer
  }

  /// The answer when the rendition is stored.
  func ready(_ exchange: Exchange) throws -> Response? {
    let (changes, look) = (offers.changes, media.glance.look(at: Date()))
    let opened = try open(exchange)
    guard let stored = media.renderer.stored(opened.wish) else { return nil }
    let content = Self.shared(stored, for: opened.seconds)
    fetched(opened.notification, exchange)
    if exchange.request.method == "GET", opened.seconds > Self.freshness {
      let end = Date() + Double(opened.seconds - Self.freshness)
      offers.put(
        Offer(
          opened.wish, content, at: Self.route, expires: end, seen: look,
          counts: media.renderer.counts),
        for: PushText.divided(exchange.request.target)?.shared ?? exchange.request.target,
        unlessChangedSince: changes)
    }
    return .content(content)
  }

  /// The answer once the rendition is made.
  func get(_ exchange: Exchange) async throws -> Response {
    let opened = try open(exchange)
    let rendered = try await media.renderer.rendered(opened.wish)
    fetched(opened.notification, exchange)
    switch rendered {
    case .content(let content): return .content(Self.shared(content, for: opened.seconds))
    case .transient(var response):
      response.fields.embedAnywhere()
      return response
    }
  }

  /// What a push brought is its device's to fetch.
  ///
  /// An address that no push brought says nothing about
  /// who asks; what was sent to one user is that user's to fetch.
  private func fetched(_ notification: RichNotification, _ exchange: Exchange) {
    guard exchange.request.method == "GET" else { return }
    let target = exchange.request.target
    if let addressee = try? addressee(of: notification.id, target), addressee.user != nil {
      return note(addressee, of: notification.id)
    }
    guard notification.to.count == 1,
      notification.to.first?.hasPrefix(Self.oneUser) == true,
      let user = try? media.store.soleRecipient(of: notification.id)
    else { return }
    media.fetches.note(notification.id, by: user, on: exchange.device)
  }

  private typealias Addressee = (user: UserID?, registration: String?)

  /// To whom a push brought the address; nil when it ends in no job of the notification's.
  private func addressee(of id: Int, _ target: String) throws -> Addressee? {
    guard let (_, job, token) = PushText.divided(target) else { return nil }
    return try media.store.outbox.addressee(of: job, token: token, notification: id)
  }

  private func note(_ addressee: Addressee, of id: Int) {
    if let user = addressee.user { media.fetches.note(id, by: user, on: addressee.registration) }
  }

  /// - Throws: 403, whether the signature, the key or the notification is wrong; 410 for one of ours
  ///   whose time is over.
  private func open(_ exchange: Exchange) throws -> Opened {
    let (target, query) = (exchange.request.target, exchange.request.query)
    guard let id = try? exchange.notificationID(), let rendition = exchange.parameters.last,
      let expires = query["expires"].flatMap(Int.init), let key = query["key"].flatMap(Int.init),
      let notification = try media.store.notification(id), !notification.isHeld(at: Date())
    else { throw Self.forbidden }
    let place = MediaLinks.Place(
      id: id, rendition: rendition, content: Subject(notification, in: media.store).content,
      expires: expires)
    let address = PushText.divided(target)?.shared ?? target
    switch links.check(place, key: key, address: address, now: Date()) {
    case .forged: throw Self.forbidden
    case .expired: throw Refusal(410, "The address's time is over; ask for a new one.")
    case .valid(let left):
      if address != target, try addressee(of: id, target) == nil { throw Self.forbidden }
      let wish = try media.wish(
        notification, for: nil
      ) { plugin throws(Refusal) in
        try RenditionOptions(name: rendition, declaring: plugin.manifest.query)
      }
      guard !wish.plugin.manifest.perUser else { throw Self.forbidden }
      return Opened(notification: notification, wish: wish, seconds: left)
    }
  }

  /// Whole minutes, so that few answers differ.
  private static func shared(_ content: Content, for seconds: Int) -> Content {
    content.shared("public, max-age=\(min(freshness, seconds / 60 * 60))")
  }

  private static let oneUser = "username:"
  private static let forbidden = Refusal(
    403, "The address opens nothing: it was not made here, or what it opened is gone.")
}
