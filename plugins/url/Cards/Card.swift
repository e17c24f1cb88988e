/// What a phone is told about a link; members that are not known are left out.
struct Card: Encodable {
  /// The link in ASCII, ready to be opened.
  let url: String
  /// The host as DNS knows it.
  let host: String
  /// The host as a reader sees it, where that differs.
  let displayHost: String?
  /// Why the host may not be the one it looks like.
  let warning: String?
  private(set) var title: String?
  private(set) var description: String?
  /// What the site calls itself.
  private(set) var site: String?
  /// Where the page's picture is had, relative to the notification's own address.
  private(set) var picture: String?

  /// A card of the link, what the publisher said, and what the page says where the publisher is
  /// silent.
  init(_ link: Link, _ source: LinkSource, _ page: Page?) {
    url = link.url
    host = link.host.ascii
    displayHost = link.host.unicode == link.host.ascii ? nil : link.host.unicode
    warning = link.host.suspicions.first
    title = source.title ?? page?.facts.title
    description = source.description ?? page?.facts.description
    site = page?.facts.site
    picture = page?.picture == nil ? nil : "?view=picture"
  }
}
