import HTTP
package import Media
import Primitives

/// Which APIs of other programs are served, so that what sends to them can send here.
package struct CompatibilitySettings: Sendable, Equatable {
  /// An API of another program.
  package enum API: String, Sendable, CaseIterable {
    /// ntfy's, for publishers.
    case ntfy
    /// Gotify's, for publishers.
    case gotify
    /// That of Bark's server.
    case bark
    /// Addresses to which programs post events, which become notifications by templates.
    case webhooks
  }

  /// Where ntfy's API is, whose topics would be in the way of this server's paths.
  package enum Place: Sendable, Equatable {
    /// At a numeric address of its own; port 0 picks one.
    case address(host: String, port: UInt16)
    /// Where this server listens, by a host name of its own, in lower case.
    case host(String)
  }

  /// The APIs.
  package private(set) var apis: Set<API> = []
  /// Where ntfy's is; nil if it is not served.
  package private(set) var ntfy: Place?

  /// Serves none.
  package init() {}

  /// Serves those in lists such as `ntfy,gotify`, ntfy's at a place.
  ///
  /// - Throws: `OperatorError` for a name that is none, or a place that is missing or not needed.
  package init(_ lists: [String], ntfy: Place?) throws(OperatorError) {
    for name in lists.flatMap({ $0.split(separator: ",") }) {
      guard let api = API(rawValue: String(name).trimming(\.isWhitespace)) else {
        let names = API.allCases.map(\.rawValue).joined(separator: ", ")
        throw OperatorError("--compat must be of \(names), not \(name)")
      }
      apis.insert(api)
    }
    if case .host(let name)? = ntfy, !Self.isHostName(name) {
      throw OperatorError(
        "--ntfy-listen must be HOST:PORT, such as 127.0.0.1:8081, or a host name such as "
          + "ntfy.example.org, not \(name)")
    }
    guard apis.contains(.ntfy) == (ntfy != nil) else {
      throw OperatorError(
        ntfy == nil
          ? "--compat ntfy needs --ntfy-listen: an address such as 127.0.0.1:8081, or a host name of its own"
          : "--ntfy-listen has no effect without --compat ntfy")
    }
    self.ntfy = ntfy
  }

  /// Whether only this machine can connect to what it adds.
  package var isLoopback: Bool {
    guard case .address(let host, _)? = ntfy else { return true }
    return IPAddress.isLoopback(host)
  }

  private static func isHostName(_ name: String) -> Bool {
    (1...253).contains(name.utf8.count) && !name.hasPrefix(".") && !name.hasPrefix("-")
      && name.utf8.allSatisfy {
        (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D || $0 == 0x2E
      }
  }
}
