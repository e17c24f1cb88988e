package import Glibc

/// The addresses of the public Internet, by IANA's special-purpose registries: not those of this machine,
/// of private networks, or of a cloud's metadata service.
///
/// To be asked for every address that is connected to because a user or a page named it: then a name that
/// resolves to an internal address, or to another one than before, does not evade the check.
package enum PublicInternet {
  /// Whether an address belongs to the public Internet.
  package static func contains(_ address: UnsafePointer<sockaddr>) -> Bool {
    switch Int32(address.pointee.sa_family) {
    case AF_INET:
      address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
        contains(v4: UInt32(bigEndian: $0.pointee.sin_addr.s_addr))
      }
    case AF_INET6:
      address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
        withUnsafeBytes(of: $0.pointee.sin6_addr) { contains(v6: Array($0)) }
      }
    default: false
    }
  }

  /// Whether the host of a URL can't be in the public Internet, whatever a resolver says: an address that is not
  /// public, in any spelling that resolvers read, or a name of this machine (RFC 6761, section 6.3).
  ///
  /// `host` is in lower case; an IPv6 address is in brackets.
  package static func excludes(host: String) -> Bool {
    if host.hasPrefix("[") {
      var address = in6_addr()
      guard host.hasSuffix("]"),
        inet_pton(AF_INET6, String(host.dropFirst().dropLast()), &address) == 1
      else { return true }
      return !withUnsafeBytes(of: address) { contains(v6: Array($0)) }
    }
    let labels = host.split(separator: ".")
    if labels.last == nil || labels.last == "localhost" { return true }
    guard isAddress(host: host) else { return false }
    // As getaddrinfo(3) and URL parsers read it: up to four numbers, each decimal, octal or hexadecimal.
    var address = in_addr()
    guard inet_aton(labels.joined(separator: "."), &address) == 1 else { return true }
    return !contains(v4: UInt32(bigEndian: address.s_addr))
  }

  /// Whether the host of a URL is an address, which is not looked up: one whose last label is a number (WHATWG URL,
  /// section 3.5), or one in brackets.
  package static func isAddress(host: String) -> Bool {
    guard let last = host.split(separator: ".").last, last.allSatisfy(\.isASCII) else {
      return false
    }
    return host.hasPrefix("[") || last.allSatisfy(\.isWholeNumber)
      || last.hasPrefix("0x") && last.dropFirst(2).allSatisfy(\.isHexDigit)
  }

  private static func contains(v4 address: UInt32) -> Bool {
    !closed.contains { address >> (32 - $0.bits) == $0.prefix >> (32 - $0.bits) }
  }

  /// Global unicast (2000::/3) without its reserved parts; NAT64 counts as the address inside.
  private static func contains(v6 bytes: [UInt8]) -> Bool {
    let groups = stride(from: 0, to: 16, by: 2).map { Int(bytes[$0]) << 8 | Int(bytes[$0 + 1]) }
    if groups[0] == 0x64, groups[1] == 0xFF9B, groups[2..<6].allSatisfy({ $0 == 0 }) {
      return contains(v4: UInt32(groups[6]) << 16 | UInt32(groups[7]))
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
