import CLinux
import Glibc

/// Numeric IP addresses as text.
package enum IPAddress {
  // Room for any address of inet_ntop and its NUL (INET6_ADDRSTRLEN is 46).
  private static let maximumLength = 64
  // Where sockaddr_in has sin_addr, and sockaddr_in6 sin6_addr.
  private static let (ipv4Offset, ipv6Offset) = (4, 8)

  /// The numeric address without its port; empty if it is neither IPv4 nor IPv6.
  static func text(_ address: sockaddr_storage) -> String {
    withUnsafeBytes(of: address) { bytes in
      guard let base = bytes.baseAddress else { return "" }
      switch Int32(address.ss_family) {
      case AF_INET: return text(AF_INET, base + ipv4Offset)
      case AF_INET6: return text(AF_INET6, base + ipv6Offset)
      default: return ""
      }
    }
  }

  /// The canonical spelling (RFC 5952), by which addresses are compared; nil if it is no address.
  ///
  /// An IPv4-mapped IPv6 address becomes IPv4, and the zone of an IPv6 address is dropped.
  static func canonical(_ text: Substring) -> String? {
    // inet_pton stops at a NUL: "127.0.0.1\0.evil" would pass.
    guard text.utf8.count <= maximumLength, !text.utf8.contains(0) else { return nil }
    var text = text
    let isIPv6 = text.utf8.contains(UInt8(ascii: ":"))
    if isIPv6, let zone = text.firstIndex(of: "%") {
      guard text.index(after: zone) < text.endIndex else { return nil }
      text = text[..<zone]
    }
    let family = isIPv6 ? AF_INET6 : AF_INET
    return withUnsafeTemporaryAllocation(of: in6_addr.self, capacity: 1) { bytes in
      guard let base = bytes.baseAddress, inet_pton(family, String(text), base) == 1 else {
        return nil
      }
      return self.text(family, UnsafeRawPointer(base))
    }
  }

  /// The address in an entry of X-Forwarded-For or in an authority, which may have spaces around it,
  /// brackets and a port; nil if there is none.
  static func forwarded(_ entry: Substring) -> String? {
    var entry = entry
    while let first = entry.first, first == " " || first == "\t" { entry.removeFirst() }
    while let last = entry.last, last == " " || last == "\t" { entry.removeLast() }
    if entry.first == "[" {
      guard let end = entry.firstIndex(of: "]") else { return nil }
      let address = entry[entry.index(after: entry.startIndex)..<end]
      let rest = entry[entry.index(after: end)...]
      guard address.contains(":"), rest.isEmpty || isPort(rest) else { return nil }
      return canonical(address)
    }
    if let colon = entry.firstIndex(of: ":"), colon == entry.lastIndex(of: ":") {
      return isPort(entry[colon...]) ? canonical(entry[..<colon]) : nil
    }
    return canonical(entry)
  }

  /// The network by which limits count a canonical address: IPv4 addresses one by one, IPv6 by /64.
  ///
  /// Other text is returned unchanged.
  package static func network(_ address: String) -> String {
    guard address.utf8.contains(UInt8(ascii: ":")) else { return address }
    return withUnsafeTemporaryAllocation(byteCount: 16, alignment: 8) { bytes in
      guard let base = bytes.baseAddress, inet_pton(AF_INET6, address, base) == 1 else {
        return address
      }
      // A single customer has a /64 at least (RFC 6177), so that all its addresses count as one.
      for index in 8..<16 { bytes[index] = 0 }
      return text(AF_INET6, UnsafeRawPointer(base)) + "/64"
    }
  }

  /// Whether a numeric address, however it is spelled, is a loopback address.
  package static func isLoopback(_ text: String) -> Bool {
    guard let address = canonical(text[...]) else { return false }
    return address == "::1" || address.hasPrefix("127.")
  }

  /// Whether the text is a colon and one to five digits.
  private static func isPort(_ text: Substring) -> Bool {
    text.first == ":" && (2...6).contains(text.utf8.count)
      && text.utf8.dropFirst().allSatisfy(\.isDigit)
  }

  private static func text(_ family: Int32, _ bytes: UnsafeRawPointer) -> String {
    if family == AF_INET6, isIPv4Mapped(bytes) { return text(AF_INET, bytes + 12) }
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: maximumLength) { text in
      guard let base = text.baseAddress,
        inet_ntop(family, bytes, base, socklen_t(maximumLength)) != nil
      else { return "" }
      return String(cString: base)
    }
  }

  /// Whether the 16 bytes are in ::ffff:0:0/96, as a dual-stack listener shows IPv4 peers.
  private static func isIPv4Mapped(_ bytes: UnsafeRawPointer) -> Bool {
    let bytes = UnsafeRawBufferPointer(start: bytes, count: 12)
    return bytes.prefix(10).allSatisfy { $0 == 0 } && bytes[10] == 0xff && bytes[11] == 0xff
  }
}

/// A range of addresses in CIDR notation, such as `10.0.0.0/8`, or a single address.
package struct IPAddressRange: Sendable {
  /// The first address, 4 or 16 bytes.
  private let first: [UInt8]
  private let prefixLength: Int

  /// Reads an address or a range; nil for anything else, also if the address has bits beyond the
  /// prefix.
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
    (self.first, prefixLength) = (first, length)
  }

  /// Whether the numeric address, however it is spelled, is in the range.
  package func contains(_ address: String) -> Bool {
    guard let bytes = Self.bytes(of: address[...]), bytes.count == first.count else { return false }
    return Self.masked(bytes, prefixLength) == first
  }

  private static func masked(_ bytes: [UInt8], _ length: Int) -> [UInt8] {
    bytes.enumerated().map { index, byte in
      byte & ~(UInt8.max >> UInt8(min(8, max(0, length - index * 8))))
    }
  }

  private static func bytes(of address: Substring) -> [UInt8]? {
    guard let canonical = IPAddress.canonical(address) else { return nil }
    let isIPv6 = canonical.utf8.contains(UInt8(ascii: ":"))
    var bytes = [UInt8](repeating: 0, count: isIPv6 ? 16 : 4)
    return inet_pton(isIPv6 ? AF_INET6 : AF_INET, canonical, &bytes) == 1 ? bytes : nil
  }
}
