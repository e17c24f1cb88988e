import Glibc
import PluginKit

/// The rich type `url`: checks a link and makes a small JSON card of it.
@main
struct Plugin {
  static func main() {
    // libcurl turns international names into ASCII through the locale's character set.
    setlocale(LC_CTYPE, "C.UTF-8")
    serve { request in
      let source = try LinkSource.read(request)
      let link = try Link(source.url)
      let card = Card(link, source)
      return request.verb == .validate
        ? try .json(CardFacts(card: card, advice: link.host.advice)) : try .json(card)
    }
  }
}
