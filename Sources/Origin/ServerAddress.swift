import CLinux
import FoundationEssentials
import Glibc
import HTTP
import Primitives

/// Where phones find a server, as far as it knows.
package enum ServerAddress {
  /// The URL of a server that listens at a numeric address: one that listens at all of this machine's has one of them.
  static func url(isSecure: Bool, host: String, port: Int) -> String {
    let isAny = ["0.0.0.0", "::"].contains(host)
    let host = isAny ? Self.ofThisMachine ?? "127.0.0.1" : host
    return "\(isSecure ? "https" : "http")://\(host.contains(":") ? "[\(host)]" : host):\(port)"
  }

  /// What people have to know who give the URL to a phone; nil if a phone can use it.
  package static func warning(of url: String) -> String? {
    let parts = URL(string: url)
    let host = parts?.host.map { $0.trimming { "[]".contains($0) } } ?? ""
    if host == "localhost" || IPAddress.isLoopback(host) {
      return
        "no phone can reach \(host), which is this machine for itself only: pass --public-url, or start the "
        + "server with it"
    }
    if parts?.scheme == "http" {
      return
        "browsers get pushes only over https; over http the phone sees what was sent, but hears of nothing new"
    }
    return nil
  }

  /// The first address of this machine in a network; IPv4 comes first, since people can read it.
  private static var ofThisMachine: String? {
    var first: UnsafeMutablePointer<ifaddrs>?
    guard getifaddrs(&first) == 0 else { return nil }
    defer { freeifaddrs(first) }
    var found: [String] = []
    var next = first
    while let entry = next?.pointee {
      next = entry.ifa_next
      guard entry.ifa_flags & UInt32(IFF_UP.rawValue) != 0,
        entry.ifa_flags & UInt32(IFF_LOOPBACK.rawValue) == 0, let address = entry.ifa_addr
      else { continue }
      found.append(IPAddress.text(address))
    }
    // Link-local ones need the name of an interface.
    let usable = found.filter { !$0.isEmpty && !$0.hasPrefix("fe80:") }
    return usable.first { !$0.contains(":") } ?? usable.first
  }
}
