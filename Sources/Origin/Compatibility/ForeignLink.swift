import Primitives
import RichPushAPI

/// A link to a file elsewhere, which the plugin for links makes a card of.
enum ForeignLink {
  /// The link in the member of a request, if what it names may be shown.
  ///
  /// - Throws: if it is no URL of the web, or its host is not in the public Internet.
  static func media(_ text: String, _ member: String) throws(ServiceError) -> String {
    let link = ForeignText.url(text)
    guard let host = ForeignText.webHost(link) else {
      throw ServiceError(
        .init(member, .rejected, "\(member) must be a URL that begins with https: or http:."))
    }
    guard !PublicInternet.excludes(host: host) else {
      throw ServiceError(
        .init(
          member, .rejected,
          "\(member) names \(host.quoted), which is not in the public Internet. Send the file itself."
        ))
    }
    return link
  }
}
