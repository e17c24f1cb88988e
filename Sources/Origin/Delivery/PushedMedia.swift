import FoundationEssentials
import HTTP
import Push

/// The media that a push carries an address of, so that a service extension needs no password.
struct PushedMedia: Sendable {
  /// The profile whose rendition the extension shows.
  static let profile = "ios"

  let type: String
  let size: Int
  /// What names the content in the address.
  let content: String
  /// Whole seconds since 1970.
  let expires: Int

  /// The rendition of a subject that a draft announces.
  init(_ rendition: Content, of subject: Subject, for draft: Draft, now: Date) {
    (type, size, content) = (rendition.mediaType, rendition.size, subject.content)
    expires = MediaLinks.expiry(of: draft.expires, now: max(now, draft.notBefore ?? now))
  }

  /// The signed address; nil unless the operator said where the world reaches this server.
  ///
  /// In a push over a lane it ends in what stands for its job, so that a fetch is a device's.
  func link(of id: Int, by links: MediaLinks, overLane: Bool) -> MediaLink? {
    let place = MediaLinks.Place(
      id: id, rendition: Self.profile, content: content, expires: expires)
    return links.url(to: place).map { url in
      MediaLink(url: overLane ? url + PushText.addressee : url, type: type, size: size)
    }
  }
}
