import FoundationEssentials
import HTTP
import Media
import PluginHost
import Primitives
import RichPushAPI
import Store
import Synchronization

/// A notification's media as ntfy's Android app shows it: a link that needs no password.
struct NtfyAttachment: Sendable {
  /// Without scheme and host.
  let path: String
  let name: String
  /// Exactly what the response has as `Content-Type`.
  let type: String
  /// In bytes.
  let size: Int
  /// When the link ends, in seconds since 1970.
  let expires: Int

  func json(at base: String, suffix: String) -> String {
    JSONText.object([
      "name": JSONText.quoted(name), "type": JSONText.quoted(type), "size": String(size),
      "expires": String(expires), "url": JSONText.quoted(base + path + suffix),
    ])
  }
}

/// Finds the media of notifications for many readers.
final class NtfyAttachments: Sendable {
  /// The rendition, of which a picture has at most a megabyte: larger ones the app does not load by itself.
  private static let profile = "android"

  private struct Key: Hashable {
    let notification: Int
    let content: String
    let expires: Int
  }

  private let signed: SignedMediaRoutes
  private let known = Mutex(GenerationalCache<Key, NtfyAttachment>(capacity: 256))

  init(_ signed: SignedMediaRoutes) { self.signed = signed }

  /// A notification's attachment; nil if it has no media that a link can lead to.
  func attachment(of notification: StoredNotification) async -> NtfyAttachment? {
    guard notification.media != nil else { return nil }
    let content = RenditionSource(notification, in: signed.media.store).content
    let expires = MediaLinks.expiry(of: notification.expires, now: Date())
    let key = Key(notification: notification.id, content: content, expires: expires)
    if let found = known.withLock({ $0.value(for: key) }) { return found }
    guard let media = await media(of: notification) else { return nil }
    let target = MediaLinks.Target(
      id: notification.id, rendition: Self.profile, content: content, expires: expires)
    let new = NtfyAttachment(
      path: signed.links.path(to: target), name: media.fileName, type: media.mediaType,
      size: media.size, expires: expires)
    known.withLock { $0.insert(new, for: key) }
    return new
  }

  /// The rendition, which was made before the notification was sent.
  private func media(of notification: StoredNotification) async -> StoredMedia? {
    do {
      let request = try signed.media.rendition(notification, for: nil) {
        plugin throws(ServiceError) in
        try RenditionOptions(name: Self.profile, declaring: plugin.manifest.query)
      }
      guard !request.plugin.manifest.perUser else { return nil }
      return try await signed.media.renderer.rendition(request, for: nil).stored
    } catch {
      // The message says what there is to say.
      return nil
    }
  }

  /// What ends the links of a reader, so that a fetch is a receipt.
  func suffix(for caller: Caller, of notification: Int) -> String {
    signed.links.suffix(
      for: LinkRecipient(caller.id, device: caller.device), of: notification)
  }
}
