import Glibc

/// The addresses that begin with the same bits, such as `10.0.0.0/8`; a single address is a range, too.
package struct AddressRange: Sendable {
  /// The first address, 4 or 16 bytes.
  private let first: [UInt8]
  /// How many bits all addresses share.
  private let length: Int

  /// Reads a numeric address, or one with the length of a prefix; nil for anything else, also where
  /// the address has bits beyond the prefix.
  package init?(_ text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count <= 2, let first = Self.bytes(of: parts[0]) else { return nil }
    var length = first.count * 8
    if parts.count == 2 {
      guard (1...3).contains(parts[1].utf8.count), parts[1].utf8.allSatisfy(\.isDigit),
        let number = Int(parts[1]), number <= length
      else { return nil }
      length = number
    }
    guard Self.masked(first, length) == first else { return nil }
    (self.first, self.length) = (first, length)
  }

  /// Whether the numeric address, however it is spelled, is one of them.
  package func contains(_ address: String) -> Bool {
    guard let bytes = Self.bytes(of: address[...]), bytes.count == first.count else { return false }
    return Self.masked(bytes, length) == first
  }

  private static func masked(_ bytes: [UInt8], _ length: Int) -> [UInt8] {
    bytes.enumerated().map { index, byte in
      byte & ~(UInt8.max >> UInt8(min(8, max(0, length - index * 8))))
    }
  }

  private static func bytes(of address: Substring) -> [UInt8]? {
    guard let canonical = Address.canonical(address) else { return nil }
    let isIPv6 = canonical.utf8.contains(UInt8(ascii: ":"))
    var bytes = [UInt8](repeating: 0, count: isIPv6 ? 16 : 4)
    return inet_pton(isIPv6 ? AF_INET6 : AF_INET, canonical, &bytes) == 1 ? bytes : nil
  }
}
