import CLinux
import Glibc

/// Socket addresses as text.
enum Address {
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

  /// The usual spelling of a numeric address; nil for anything else.
  static func canonical(_ text: Substring) -> String? {
    let trimmed = text.filter { $0 != " " && $0 != "\t" }
    let family = trimmed.contains(":") ? AF_INET6 : AF_INET
    return withUnsafeTemporaryAllocation(of: in6_addr.self, capacity: 1) { bytes in
      guard let base = bytes.baseAddress, inet_pton(family, trimmed, base) == 1 else { return nil }
      return self.text(family, UnsafeRawPointer(base))
    }
  }

  /// Whether a numeric address is the machine's own.
  static func isLoopback(_ text: String) -> Bool { text == "::1" || text.hasPrefix("127.") }

  private static func text(_ family: Int32, _ bytes: UnsafeRawPointer) -> String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { text in
      guard let base = text.baseAddress, inet_ntop(family, bytes, base, 64) != nil else {
        return ""
      }
      return String(cString: base)
    }
  }
}
