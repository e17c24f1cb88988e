import CCurl
import FoundationEssentials
import Glibc
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
struct AddressPolicy: Decodable {
  /// Hosts and ports that the operator allows, such as `intranet.example:8080`.
  private let reach: Set<String>

  /// The policy in `settings.json` in the plugin's own folder, where the server starts a plugin:
  /// `{"reach": ["intranet.example:8080"]}`.
  static func configured() -> AddressPolicy {
    let settings = (try? Data(contentsOf: URL(filePath: "settings.json"))).flatMap {
      try? JSONDecoder().decode(AddressPolicy.self, from: $0)
    }
    return settings ?? AddressPolicy(reach: [])
  }

  private static let ports: Set = [80, 443, 8080, 8443]

  /// Whether the operator allows a host and port.
  func isOpened(_ host: String, _ port: Int) -> Bool { reach.contains("\(host):\(port)") }

  /// Whether it is a usual port of web servers.
  func allowsPort(_ port: Int) -> Bool { Self.ports.contains(port) }

  /// Whether an address belongs to the public Internet (IANA special-purpose registries).
  static func isPublic(_ address: UnsafePointer<sockaddr>) -> Bool {
    switch Int32(address.pointee.sa_family) {
    case AF_INET:
      address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
        isPublic(v4: UInt32(bigEndian: $0.pointee.sin_addr.s_addr))
      }
    case AF_INET6:
      address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
        withUnsafeBytes(of: $0.pointee.sin6_addr) { isPublic(v6: Array($0)) }
      }
    default: false
    }
  }

  private static func isPublic(v4 address: UInt32) -> Bool {
    !closed.contains { address >> (32 - $0.bits) == $0.prefix >> (32 - $0.bits) }
  }

  /// Global unicast (2000::/3) without its reserved parts; NAT64 counts as the address inside.
  private static func isPublic(v6 bytes: [UInt8]) -> Bool {
    let groups = stride(from: 0, to: 16, by: 2).map { Int(bytes[$0]) << 8 | Int(bytes[$0 + 1]) }
    if groups[0] == 0x64, groups[1] == 0xFF9B, groups[2..<6].allSatisfy({ $0 == 0 }) {
      return isPublic(v4: UInt32(groups[6]) << 16 | UInt32(groups[7]))
    }
    guard groups[0] >> 13 == 1 else { return false }
    return switch groups[0] {
    case 0x2001: groups[1] >= 0x200 && groups[1] != 0xDB8  // IETF protocols, Teredo, examples
    case 0x2002, 0x3FFF: false  // 6to4, examples
    default: true
    }
  }

  private static let closed: [(prefix: UInt32, bits: UInt32)] = [
    (0x0000_0000, 8),  // this network
    (0x0A00_0000, 8),  // private
    (0x6440_0000, 10),  // carrier-grade NAT
    (0x7F00_0000, 8),  // loopback
    (0xA83F_8110, 32),  // Azure's host, which is no public server
    (0xA9FE_0000, 16),  // link-local, cloud metadata
    (0xAC10_0000, 12),  // private
    (0xC000_0000, 24),  // IETF protocols
    (0xC000_0200, 24),  // examples
    (0xC058_6300, 24),  // 6to4 relays
    (0xC0A8_0000, 16),  // private
    (0xC612_0000, 15),  // benchmarks
    (0xC633_6400, 24),  // examples
    (0xCB00_7100, 24),  // examples
    (0xE000_0000, 3),  // multicast, reserved, broadcast
  ]
}
