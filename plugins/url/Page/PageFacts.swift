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
