/// The URL to which pushes for a subscription are posted (RFC 8030, section 5).
///
/// A user chose it. It is read more strictly than libcurl reads a URL, so that the two cannot differ about its
/// host.
package struct WebPushEndpoint: Sendable, Hashable {
  /// The most bytes, as UnifiedPush demands.
  package static let longest = 1000

  /// The URL as it was registered.
  package let url: String
  /// The scheme, the host in lower case, and the port unless it is the scheme's, such as
  /// `https://push.example`: one push service.
  package let origin: String
  /// The host in lower case.
  let host: String
  /// The host in lower case and the port, such as `push.example:443`.
  let hostAndPort: String
  /// Whether its host is one of the usual names of this machine.
  var isLoopback: Bool { Self.loopback.contains(host) }

  /// Reads a URL; `allowsPlain` also accepts `http` on this machine, for demonstrations.
  ///
  /// - Throws: a sentence about what is wrong.
  package init(_ url: String, allowsPlain: Bool = false) throws(PushError) {
    guard (1...Self.longest).contains(url.utf8.count) else {
      throw PushError(.endpoint, "An endpoint must have from 1 to \(Self.longest) bytes.")
    }
    guard url.utf8.allSatisfy(Self.isAllowed) else {
      throw PushError(.endpoint, "The endpoint has a character that no URL has.")
    }
    let scheme = url.prefix { $0 != ":" }
    guard scheme == "https" || scheme == "http" && allowsPlain,
      url.dropFirst(scheme.count).hasPrefix("://")
    else {
      throw PushError(.endpoint, "The endpoint must begin with https://.")
    }
    let authority = url.dropFirst(scheme.count + 3).prefix { $0 != "/" && $0 != "?" }
    let end =
      authority.hasPrefix("[")
      ? authority.firstIndex(of: "]").map(authority.index(after:)) : authority.firstIndex(of: ":")
    let host = authority[..<(end ?? authority.endIndex)]
    let rest = authority.dropFirst(host.count)
    let standard = scheme == "https" ? "443" : "80"
    let port = rest.isEmpty ? Substring(standard) : rest.dropFirst()
    guard Self.isHost(host), rest.isEmpty || rest.hasPrefix(":"),
      port.utf8.count <= 5, let number = UInt16(port), number > 0, String(number) == port
    else {
      throw PushError(
        .endpoint, "The endpoint must have a host, perhaps a port, and no user name.")
    }
    let name = host.lowercased()
    guard scheme == "https" || Self.loopback.contains(name) else {
      throw PushError(.endpoint, "Plain http is for 127.0.0.1 only.")
    }
    (self.url, self.host, hostAndPort) = (url, name, "\(name):\(port)")
    origin = "\(scheme)://\(name)" + (port == standard ? "" : ":\(port)")
  }

  /// The host of an ``origin``.
  static func host(of origin: String) -> String {
    (try? WebPushEndpoint(origin, allowsPlain: true))?.host ?? ""
  }

  /// The addresses of the host as entries of libcurl's `CURLOPT_RESOLVE`.
  func resolution(_ addresses: [String]) -> [String] {
    let port = hostAndPort.dropFirst(host.count)
    // libcurl may drop a last dot. With + an entry expires like what libcurl has looked up.
    let names = host.hasSuffix(".") ? [host, String(host.dropLast())] : [host]
    return names.map { "+\($0)\(port):\(addresses.joined(separator: ","))" }
  }

  private static let loopback = ["127.0.0.1", "[::1]", "localhost"]

  /// Whether it is a name or an address: which one, is for the resolver to say.
  private static func isHost(_ text: some StringProtocol) -> Bool {
    if text.hasPrefix("[") {
      return text.utf8.count > 2 && text.hasSuffix("]")
        && text.dropFirst().dropLast().utf8.allSatisfy {
          isHexadecimal($0) || ":.".utf8.contains($0)
        }
    }
    return !text.isEmpty && text.utf8.count <= 253
      && text.utf8.allSatisfy { byte in
        isHexadecimal(byte) || UInt8(ascii: "g")...UInt8(ascii: "z") ~= byte | 0x20
          || "-._".utf8.contains(byte)
      }
  }

  private static func isHexadecimal(_ byte: UInt8) -> Bool {
    UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
      || UInt8(ascii: "a")...UInt8(ascii: "f") ~= byte | 0x20
  }

  /// Printable ASCII without what RFC 3986 excludes, and without a fragment.
  private static func isAllowed(_ byte: UInt8) -> Bool {
    (0x21...0x7E).contains(byte) && !"\"<>\\^`{|}#".utf8.contains(byte)
  }
}
