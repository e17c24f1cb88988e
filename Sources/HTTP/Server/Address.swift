import CLinux
import Glibc

/// Socket addresses as text.
package enum Address {
  /// The numeric address without its port; empty when it is neither IPv4 nor IPv6.
  static func text(_ address: sockaddr_storage) -> String {
    withUnsafeBytes(of: address) { bytes in
      guard let base = bytes.baseAddress else { return "" }
      switch Int32(address.ss_family) {
      case AF_INET:
        return text(AF_INET, base + (MemoryLayout<sockaddr_in>.offset(of: \.sin_addr) ?? 0))
      case AF_INET6:
        return text(AF_INET6, base + (MemoryLayout<sockaddr_in6>.offset(of: \.sin6_addr) ?? 0))
      default: return ""
      }
    }
  }

  /// The one spelling of a numeric address, by which addresses are compared; nil for anything else.
  ///
  /// An IPv4 address inside an IPv6 one becomes IPv4, and the zone of an IPv6 address is left out.
  static func canonical(_ text: Substring) -> String? {
    guard text.utf8.count <= 64, !text.utf8.contains(0) else { return nil }
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

  /// The address of an entry of X-Forwarded-For, which may have spaces around it, brackets and a
  /// port; nil when there is none.
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

  /// What limits count a canonical address by.
  ///
  /// IPv4 counts whole and IPv6 by its /64, since one customer has that many addresses. Other text
  /// is returned unchanged.
  package static func network(_ address: String) -> String {
    guard address.utf8.contains(UInt8(ascii: ":")) else { return address }
    return withUnsafeTemporaryAllocation(byteCount: 16, alignment: 8) { bytes in
      guard let base = bytes.baseAddress, inet_pton(AF_INET6, address, base) == 1 else {
        return address
      }
      for index in 8..<16 { bytes[index] = 0 }
      return text(AF_INET6, UnsafeRawPointer(base)) + "/64"
    }
  }

  /// Whether a numeric address, however it is spelled, is the machine's own.
  package static func isLoopback(_ text: String) -> Bool {
    guard let address = canonical(text[...]) else { return false }
    return address == "::1" || address.hasPrefix("127.")
  }

  /// Whether the text is a colon and one to five digits.
  private static func isPort(_ text: Substring) -> Bool {
    text.first == ":" && (2...6).contains(text.utf8.count)
      && text.utf8.dropFirst().allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
  }

  private static func text(_ family: Int32, _ bytes: UnsafeRawPointer) -> String {
    if family == AF_INET6, isMapped(bytes) { return text(AF_INET, bytes + 12) }
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { text in
      guard let base = text.baseAddress, inet_ntop(family, bytes, base, 64) != nil else {
        return ""
      }
      return String(cString: base)
    }
  }

  /// Whether the 16 bytes are ::ffff:0:0/96, as a dual-stack listener shows IPv4 peers.
  private static func isMapped(_ bytes: UnsafeRawPointer) -> Bool {
    let bytes = UnsafeRawBufferPointer(start: bytes, count: 12)
    return bytes.prefix(10).allSatisfy { $0 == 0 } && bytes[10] == 0xff && bytes[11] == 0xff
  }
}
