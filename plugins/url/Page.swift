import MediaTypes
import PluginKit
import Synchronization

/// The page behind a link, as far as a card needs it.
struct Page {
  /// What it says about itself; nil without network, and when it cannot be read.
  private(set) var facts: PageFacts?
  /// Where its picture is; nil when there is none that may be fetched.
  private(set) var picture: Link?
  /// Why the page cannot be read.
  private(set) var failure: String?

  private static let largestPage = 512 << 10
  private static let largestPicture = 5 << 20
  private static let pictureTypes: Set = ["image/png", "image/jpeg", "image/gif", "image/webp"]

  /// Fetches the page; without a fetcher nothing is known about it.
  init(_ link: Link, by fetcher: Fetcher?) {
    do {
      if let fetcher { try fetch(link, by: fetcher) }
    } catch is Refusal {
      failure = "it redirects to a link that nobody should be sent to"
    } catch {
      failure = "\(error)"
    }
  }

  private mutating func fetch(_ link: Link, by fetcher: Fetcher) throws {
    let (place, answer) = try fetcher.fetch(
      link, accept: "text/html,application/xhtml+xml;q=0.9", limit: Self.largestPage)
    let type = MediaType(answer.contentType)?.value
    guard type == "text/html" || type == "application/xhtml+xml" else {
      throw FetchError("it is \(type ?? "of no type"), not a page")
    }
    let facts = PageFacts(html: PageText.decode(answer.body, contentType: answer.contentType))
    self.facts = facts
    picture = facts.picture.flatMap { try? place.resolving($0) }
  }

  /// What the publisher should know about the page.
  var advice: [String] {
    failure.map { ["The page behind the link could not be read: \($0)."] } ?? []
  }

  /// The page's picture, whose type is detected from its content.
  func picture(by fetcher: Fetcher?) throws(Refusal) -> PluginResponse {
    guard let fetcher, let picture else {
      throw Refusal(
        status: failure == nil ? 404 : 503, "The page behind the link shows no picture.")
    }
    do {
      let (_, answer) = try fetcher.fetch(
        picture, accept: Self.pictureTypes.sorted().joined(separator: ","),
        limit: Self.largestPicture)
      guard !answer.isCut else { throw FetchError("its picture has more than 5 MB") }
      let type = MediaType.sniff(answer.body).value
      guard Self.pictureTypes.contains(type) else { throw FetchError("its picture is \(type)") }
      return .document(answer.body, type: type)
    } catch {
      throw Refusal(status: 503, "The picture of the page cannot be had: \(error).")
    }
  }
}

/// The pages of the last minute, so that one notification fetches a page once and not for each profile.
///
/// Failures are remembered too: the time limit of a server that hangs is waited for once.
final class PageCache: Sendable {
  private struct Entry {
    let page: Page
    let time: ContinuousClock.Instant
  }

  private let entries = Mutex<[String: Entry]>([:])

  private static let lifetime = Duration.seconds(60)
  private static let capacity = 32

  /// A page of the last minute, or a new one.
  func page(_ link: Link, by fetcher: Fetcher?) -> Page {
    let now = ContinuousClock.now
    let known = entries.withLock { entries in
      entries = entries.filter { $1.time.duration(to: now) < Self.lifetime }
      return entries[link.url]?.page
    }
    if let known { return known }
    let page = Page(link, by: fetcher)
    entries.withLock { entries in
      if entries.count >= Self.capacity { entries = [:] }
      entries[link.url] = Entry(page: page, time: .now)
    }
    return page
  }
}

/// What a page says about itself in its head: Open Graph, Twitter cards, plain HTML, in this order.
struct PageFacts {
  private(set) var title: String?
  private(set) var description: String?
  private(set) var site: String?
  /// Where the page's picture is, as written.
  private(set) var picture: String?

  init(html: String) {
    var named: [String: String] = [:]
    var heading: String?
    var reader = TagReader(html)
    while let tag = reader.next(), tag.name != "body" {
      if tag.name == "title", heading == nil { heading = reader.text() }
      guard tag.name == "meta", let content = tag.attributes["content"],
        let name = (tag.attributes["property"] ?? tag.attributes["name"])?.lowercased()
      else { continue }
      if named[name] == nil { named[name] = content }
    }
    let first = { (names: [String]) in names.lazy.compactMap { named[$0] }.first { !$0.isEmpty } }
    title = Self.clean(first(["og:title", "twitter:title"]) ?? heading, longest: 200)
    description = Self.clean(
      first(["og:description", "twitter:description", "description"]), longest: 500)
    site = Self.clean(first(["og:site_name", "application-name"]), longest: 100)
    picture = first(["og:image:secure_url", "og:image:url", "og:image", "twitter:image"])
  }

  /// One line without invisible characters, cut at a length; nil when nothing is left.
  private static func clean(_ text: String?, longest: Int) -> String? {
    let visible = text?.unicodeScalars.filter { scalar in
      switch scalar.properties.generalCategory {
      case .format, .privateUse, .unassigned, .surrogate: scalar == "\u{200D}"  // joins emoji
      case .control: scalar.properties.isWhitespace
      default: true
      }
    }
    guard let visible else { return nil }
    let line = String(String.UnicodeScalarView(visible)).split(whereSeparator: \.isWhitespace)
      .joined(separator: " ")
    if line.isEmpty { return nil }
    // Counted in scalars: one character can be a letter under a thousand accents.
    guard line.unicodeScalars.count > longest else { return line }
    return String(line.unicodeScalars.prefix(longest - 1)) + "…"
  }
}
