import CCurl
import Glibc
import JSON
import MediaTypes
import PluginKit

/// Fetches the content of a link; each redirect is checked like the link itself.
struct Fetcher {
  private let policy: AddressPolicy
  /// When everything must be finished.
  private let deadline: ContinuousClock.Instant

  private static let mostRedirects = 5
  /// The longest time that a publisher waits for another server.
  private static let longest = Duration.seconds(6)

  /// A fetcher that finishes a second before the request's deadline; nil without network.
  init?(_ request: PluginRequest, _ policy: AddressPolicy) {
    guard request.hasNetwork else { return nil }
    self.policy = policy
    let left = (request.deadline ?? Self.longest) - .seconds(1)
    deadline = .now.advanced(by: min(Self.longest, left))
  }

  /// The answer with status 200, and the link after all redirects.
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
  /// The link of a reference on this one's page, checked like any other.
  func resolving(_ reference: String) throws -> Link {
    let parts = URLParts()
    guard parts.parse(url), parts.parse(reference), let url = parts.get(CURLUPART_URL) else {
      throw FetchError("it points to what is no URL")
    }
    return try Link(url)
  }
}

/// Why nothing was fetched.
struct FetchError: Error, CustomStringConvertible {
  let reason: String

  init(_ reason: String) { self.reason = reason }

  var description: String { reason }
}

/// The addresses that may be connected to: public ones, and the exceptions that the operator allows.
///
/// Every address is checked when it is connected to: a name that resolves to an internal address, one that
/// changes between check and use, and a redirect cannot evade the check.
struct AddressPolicy {
  /// Hosts and ports that the operator allows, such as `intranet.example:8080`.
  private let reach: Set<String>

  /// The policy in `settings.json` in the plugin's own folder, where the server starts a plugin:
  /// `{"reach": ["intranet.example:8080"]}`.
  static func configured() -> AddressPolicy {
    let file = OpenFile("settings.json")
    let settings = file.flatMap { JSONTree($0.read(at: 0, count: largestSettings)) }
    let reach = settings?["reach"]?.elements?.map(\.text) ?? []
    return AddressPolicy(reach: reach.contains(nil) ? [] : Set(reach.compactMap(\.self)))
  }

  private static let largestSettings = 1 << 20
  private static let ports: Set = [80, 443, 8080, 8443]

  /// Whether the operator allows a host and port.
  func isOpened(_ host: String, _ port: Int) -> Bool { reach.contains("\(host):\(port)") }

  /// Whether it is a usual port of web servers.
  func allowsPort(_ port: Int) -> Bool { Self.ports.contains(port) }
}
