import Glibc
import PluginKit
import Primitives

/// The rich type `url`: checks a link and answers with a small JSON card about it.
@main
struct URLPlugin {
  static func main() {
    // libcurl converts international names to ASCII by the character set of the locale.
    setlocale(LC_CTYPE, "C.UTF-8")
    let policy = AddressPolicy.configured()
    let pages = PageCache()
    serve { request in
      let source = try LinkSource.read(request)
      let link = try Link(source.url)
      let fetcher = Fetcher(request, policy)
      let page = pages.page(link, by: fetcher)
      switch request.query["view"] {
      case nil, "": break
      case "picture": return try page.picture(by: fetcher)
      case .some(let view): throw Refusal("There is no view \(view) of a link; there is picture.")
      }
      var card = Card(link, source, page)
      guard request.verb == .validate else {
        return card.response(isFinal: page.failure == nil)
      }
      card.addFacts(advice: link.host.advice + page.advice)
      return card.response()
    }
  }
}

/// The facts about a link that a phone receives; unknown members are left out.
private struct Card {
  /// The link in ASCII, ready to be opened.
  let url: String
  /// The host in DNS.
  let host: String
  /// The host as a reader sees it, when that differs.
  let displayHost: String?
  /// Why the host may imitate another one.
  let warning: String?
  let title: String?
  let description: String?
  /// The name of the site.
  let site: String?
  /// Where the page's picture is, relative to the notification's own address.
  let picture: String?
  /// Only for the publisher: the type that is sent, and advice.
  private var contentType: String?
  private var advice: [String]?

  /// A card of the link and what the publisher said about it, or else the page.
  init(_ link: Link, _ source: LinkSource, _ page: Page) {
    url = link.url
    host = link.host.ascii
    displayHost = link.host.unicode == link.host.ascii ? nil : link.host.unicode
    warning = link.host.suspicions.first
    title = source.title ?? page.facts?.title
    description = source.description ?? page.facts?.description
    site = page.facts?.site
    picture = page.picture == nil ? nil : "?view=picture"
  }

  /// Makes it the response to `validate`.
  mutating func addFacts(advice: [String]) {
    contentType = "application/json"
    self.advice = advice.isEmpty ? nil : advice
  }

  /// The card as JSON; one that is not final is not stored.
  func response(isFinal: Bool = true) -> PluginResponse {
    let quoted = JSONText.quoted
    let text = JSONText.object([
      "advice": advice.map(JSONText.array), "contentType": contentType.map(quoted),
      "description": description.map(quoted), "displayHost": displayHost.map(quoted),
      "host": quoted(host), "picture": picture.map(quoted), "site": site.map(quoted),
      "title": title.map(quoted), "url": quoted(url), "warning": warning.map(quoted),
    ])
    return .document(
      Array(text.utf8), type: "application/json",
      fields: isFinal ? [] : [("Cache-Control", "no-store")])
  }
}
