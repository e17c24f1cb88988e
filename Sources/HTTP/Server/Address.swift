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

  /// The usual spelling of a numeric address; nil for anything else.
  static func canonical(_ text: Substring) -> String? {
    var spelling = [CChar](repeating: 0, count: 64)
    let trimmed = text.filter { $0 != " " && $0 != "\t" }
    guard cmicrohttpd_canonical(trimmed, &spelling) != 0 else { return nil }
    return spelling.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } }
  }
}
