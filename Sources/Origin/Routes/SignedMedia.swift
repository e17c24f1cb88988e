import FoundationEssentials
import HTTP
import PluginHost
import Store

/// `GET /media/<id>/<rendition>?expires=…&key=…&signature=…`: media for whoever holds the address.
struct SignedMedia: Sendable {
  let media: Media
  let links: MediaLinks
  /// Caches may keep an answer so long, in seconds, unless its address ends before: what is
  /// withdrawn is gone from them after that.
  private static let freshness = 3600

  /// The answer when the rendition is stored.
  func ready(_ exchange: Exchange) throws -> Response? {
    let (wish, seconds) = try open(exchange)
    return media.renderer.stored(wish).map { Self.response($0, for: seconds) }
  }

  /// The answer once the rendition is made.
  func get(_ exchange: Exchange) async throws -> Response {
    let (wish, seconds) = try open(exchange)
    return switch try await media.renderer.rendered(wish) {
    case .content(let content): Self.response(content, for: seconds)
    case .transient(let response): response
    }
  }

  /// What the address opens, and for how many seconds.
  ///
  /// - Throws: 403, whether the signature, the key or the notification is wrong; 410 for one of ours
  ///   whose time is over.
  private func open(_ exchange: Exchange) throws -> (wish: Wish, seconds: Int) {
    let query = try exchange.query("expires", "key", "signature")
    guard let id = try? exchange.notificationID(), let rendition = exchange.parameters.last,
      let expires = query["expires"].flatMap(Int.init), let key = query["key"].flatMap(Int.init),
      let signature = query["signature"],
      let notification = try media.store.notification(id), !notification.isHeld(at: Date())
    else { throw Self.forbidden }
    let place = MediaLinks.Place(
      id: id, rendition: rendition, content: Subject(notification, in: media.store).content,
      expires: expires)
    switch links.check(place, key: key, signature: signature, now: Date()) {
    case .forged: throw Self.forbidden
    case .expired: throw Refusal(410, "The address's time is over; ask for a new one.")
    case .valid(let left):
      let wish = try media.wish(
        notification, for: ""
      ) { _ throws(Refusal) in try RenditionOptions(name: rendition) }
      guard !wish.plugin.manifest.perUser else { throw Self.forbidden }
      return (wish, left)
    }
  }

  /// Whole minutes, so that few answers differ.
  private static func response(_ content: Content, for seconds: Int) -> Response {
    let age = min(freshness, seconds / 60 * 60)
    return .content(content.cached("public, max-age=\(age)"))
  }

  private static let forbidden = Refusal(
    403, "The address opens nothing: it was not made here, or what it opened is gone.")
}
