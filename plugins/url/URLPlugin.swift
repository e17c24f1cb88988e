import Glibc
import PluginKit

/// The rich type `url`: checks a link and makes a small JSON card of it.
@main
struct URLPlugin {
  static func main() {
    // libcurl turns international names into ASCII through the locale's character set.
    setlocale(LC_CTYPE, "C.UTF-8")
    let reach = Reach.read()
    let visits = Visits()
    serve { request in
      let source = try LinkSource.read(request)
      let link = try Link(source.url)
      let fetcher = Fetcher(request, reach: reach)
      let visit = visits.visit(link, by: fetcher)
      switch request.query["view"] {
      case nil, "": break
      case "picture": return try visit.picture(by: fetcher)
      case .some(let view): throw Refusal("There is no view \(view) of a link; there is picture.")
      }
      let card = Card(link, source, visit.page)
      guard request.verb == .validate else {
        return try .json(card, isFinal: visit.failure == nil)
      }
      return try .json(CardFacts(card: card, advice: link.host.advice + visit.advice))
    }
  }
}
