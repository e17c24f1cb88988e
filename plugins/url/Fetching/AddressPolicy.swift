import Glibc

/// Which addresses may be connected to: the public Internet, and what the operator named.
///
/// Asked for every address at the moment of connecting, so that neither a name that resolves to an
/// inner address, nor one that changes its mind between check and use, nor a redirect gets around.
struct AddressPolicy {
  /// Host and port that the operator opened, such as `intranet.example:8080`.
  let reach: Set<String>

  private static let ports: Set = [80, 443, 8080, 8443]

  /// Whether a connection to the link's host may be made at all.
  func isOpened(_ host: String, _ port: Int) -> Bool { reach.contains("\(host):\(port)") }

  /// Whether the port is one that web servers answer on.
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
