import CMicroHTTPD
import Glibc

/// Socket addresses as text.
enum Address {
  /// The numeric address without its port; empty when it is neither IPv4 nor IPv6.
  static func text(_ address: UnsafePointer<sockaddr>?) -> String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
      guard let base = buffer.baseAddress else { return "" }
      cmicrohttpd_write_address(address, base)
      return String(cString: base)
    }
  }
}
