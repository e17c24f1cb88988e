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

  /// The answer when nothing must be waited for: a stored rendition, or a refusal.
  func ready(_ exchange: Exchange) throws -> Response? {
    let wish = try wish(exchange)
    guard let content = renderer.stored(wish) else { return nil }
    fetched(wish, exchange)
    return .content(content)
  }

  /// The answer once the rendition is made.
  func get(_ exchange: Exchange) async throws -> Response {
    let wish = try wish(exchange)
    let rendered = try await renderer.rendered(wish)
    fetched(wish, exchange)
    return switch rendered {
    case .content(let content): .content(content)
    case .transient(let response): response
    }
  }

  private func fetched(_ wish: Wish, _ exchange: Exchange) {
    guard exchange.request.method == "GET", let id = wish.subject.id else { return }
    fetches.note(id, by: exchange.caller.name)
  }

  private func wish(_ exchange: Exchange) throws -> Wish {
    let id = try exchange.notificationID()
    guard let notification = try store.notification(id),
      try store.isRecipient(id, user: exchange.caller.name)
    else { throw Refusal.noNotification }
    guard let plugin = host.plugin(notification.richType) else {
      throw Refusal(
        503, "The plugin for \(notification.richType.quoted) is not installed any more.",
        retryAfter: 60)
    }
    let options = try RenditionOptions(exchange.request.query, declaring: plugin.manifest.query)
    return Wish(
      subject: Subject(notification, in: store), options: options, plugin: plugin,
      user: exchange.caller.name)
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
