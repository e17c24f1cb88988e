import MediaTypes
import PluginKit

/// The page behind a link, as far as a card wants to know it.
struct Page {
  let facts: PageFacts
  /// Where its picture is; nil when it names none that may be fetched.
  let picture: Link?

  private static let mostBytes = 512 << 10

  /// Fetches a page; what is no HTML has nothing to say.
  static func fetch(_ link: Link, by fetcher: Fetcher) throws -> Page {
    let (place, answer) = try fetcher.fetch(
      link, accept: "text/html,application/xhtml+xml;q=0.9", limit: mostBytes)
    let type = MediaType(answer.contentType)?.value
    guard type == "text/html" || type == "application/xhtml+xml" else {
      throw FetchError("it is \(type ?? "of no type"), not a page")
    }
    let facts = PageFacts(html: PageText.decode(answer.body, contentType: answer.contentType))
    return Page(facts: facts, picture: facts.picture.flatMap { try? place.resolving($0) })
  }
}
