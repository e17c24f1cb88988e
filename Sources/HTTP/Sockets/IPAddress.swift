import CLinux
import Glibc

/// Numeric IP addresses as text.
package enum IPAddress {
  // Room for any address with a zone and for a NUL (INET6_ADDRSTRLEN is 46).
  private static let maximumLength = 64

  /// The numeric address without its port; empty if it is neither IPv4 nor IPv6.
  static func text(_ address: sockaddr_storage) -> String {
    withUnsafeBytes(of: address) { bytes in
      switch Int32(address.ss_family) {
      case AF_INET: text(bytes[4..<8])  // sin_addr of sockaddr_in
      case AF_INET6: text(bytes[8..<24])  // sin6_addr of sockaddr_in6
      default: ""
      }
    }
  }

  /// The canonical spelling (RFC 5952), by which addresses are compared; nil if it is no address.
  ///
  /// An IPv4-mapped IPv6 address becomes IPv4, and the zone of an IPv6 address is dropped.
  static func canonical(_ text: Substring) -> String? { bytes(of: text).map { Self.text($0) } }

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
    guard address.utf8.contains(UInt8(ascii: ":")), let bytes = bytes(of: address[...]) else {
      return address
    }
    // A single customer has at least a /64 (RFC 6177), so all its addresses count as one.
    return text(bytes.prefix(8) + [UInt8](repeating: 0, count: 8)) + "/64"
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

  /// The 4 or 16 bytes of a numeric address; nil for any other text.
  fileprivate static func bytes(of text: Substring) -> [UInt8]? {
    // inet_pton stops at a NUL: "127.0.0.1\0.evil" would pass.
    guard text.utf8.count <= maximumLength, !text.utf8.contains(0) else { return nil }
    let isIPv6 = text.utf8.contains(UInt8(ascii: ":"))
    let zone = isIPv6 ? text.firstIndex(of: "%") : nil
    if let zone, text.index(after: zone) == text.endIndex { return nil }
    var bytes = [UInt8](repeating: 0, count: isIPv6 ? 16 : 4)
    let address = String(text[..<(zone ?? text.endIndex)])
    guard inet_pton(isIPv6 ? AF_INET6 : AF_INET, address, &bytes) == 1 else { return nil }
    return isIPv4Mapped(bytes) ? Array(bytes.suffix(4)) : bytes
  }

  private static func text(_ bytes: some Collection<UInt8>) -> String {
    let bytes = isIPv4Mapped(bytes) ? Array(bytes.suffix(4)) : Array(bytes)
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: maximumLength) { text in
      let family = bytes.count == 4 ? AF_INET : AF_INET6
      guard let base = text.baseAddress,
        inet_ntop(family, bytes, base, socklen_t(maximumLength)) != nil
      else { return "" }
      return String(cString: base)
    }
  }

  /// Whether the bytes are in ::ffff:0:0/96, as a dual-stack listener reports IPv4 peers.
  private static func isIPv4Mapped(_ bytes: some Collection<UInt8>) -> Bool {
    bytes.count == 16 && bytes.starts(with: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff])
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
    guard parts.count <= 2, let first = IPAddress.bytes(of: parts[0]) else { return nil }
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
    guard let bytes = IPAddress.bytes(of: address[...]) else { return false }
    return bytes.count == first.count && Self.masked(bytes, prefixLength) == first
  }

  private static func masked(_ bytes: [UInt8], _ length: Int) -> [UInt8] {
    bytes.enumerated().map { index, byte in
      byte & ~(UInt8.max >> UInt8(min(8, max(0, length - index * 8))))
    }
  }
}

/// Addresses and ranges of addresses.
package struct IPAddressSet: Sendable {
  /// Canonical spellings, which are found without parsing an address.
  private var addresses: Set<String> = []
  private var ranges: [IPAddressRange] = []

  /// An empty set.
  package init() {}

  /// Whether nothing is in the set.
  package var isEmpty: Bool { addresses.isEmpty && ranges.isEmpty }

  /// Adds an address, or a range in CIDR notation; false for anything else, also if the address of a range has
  /// bits beyond the prefix.
  package mutating func insert(_ text: String) -> Bool {
    if let address = IPAddress.canonical(text[...]) {
      addresses.insert(address)
    } else if let range = IPAddressRange(text) {
      ranges.append(range)
    } else {
      return false
    }
    return true
  }

  /// Whether a canonical address is in the set.
  func contains(_ address: String) -> Bool {
    addresses.contains(address) || ranges.contains { $0.contains(address) }
  }
}
