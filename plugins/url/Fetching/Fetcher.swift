import CCurl
import PluginKit

/// Fetches what stands behind a link, following redirects by hand so that each is checked anew.
struct Fetcher {
  private let policy: AddressPolicy
  /// When everything must be over.
  private let deadline: ContinuousClock.Instant

  private static let mostRedirects = 5
  /// The longest that a publisher waits for somebody else's server.
  private static let longest = Duration.seconds(6)

  /// A fetcher that is done well before the server's own patience ends; nil without network.
  init?(_ request: PluginRequest, reach: Set<String>) {
    guard request.hasNetwork else { return nil }
    policy = AddressPolicy(reach: reach)
    let patience = (request.deadline ?? Self.longest) - .seconds(1)
    deadline = .now.advanced(by: min(Self.longest, patience))
  }

  /// The answer with status 200 behind the link, and the link it stood behind in the end.
  func fetch(_ link: Link, accept: String, limit: Int) throws -> (link: Link, answer: Answer) {
    var link = link
    for _ in 0...Self.mostRedirects {
      let left = ContinuousClock.now.duration(to: deadline) / .milliseconds(1)
      let answer = try Transfer(link: link, accept: accept, limit: limit, policy: policy)
        .run(milliseconds: Int(max(0, min(left, 60_000))))
      switch answer.status {
      case 200: return (link, answer)
      case 301, 302, 303, 307, 308:
        guard let location = answer.location else { throw FetchError("a redirect leads nowhere") }
        link = try link.resolving(location)
      default: throw FetchError("\(link.host.ascii) answered \(answer.status)")
      }
    }
    throw FetchError("it redirects more than \(Self.mostRedirects) times")
  }
}

extension Link {
  /// The link that a reference on this one's page means, checked like any other.
  func resolving(_ reference: String) throws -> Link {
    let parts = URLParts()
    guard parts.parse(url), parts.parse(reference), let url = parts.get(CURLUPART_URL) else {
      throw FetchError("it points to what is no URL")
    }
    return try Link(url)
  }
}
