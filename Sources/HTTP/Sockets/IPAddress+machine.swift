import CLinux
import Glibc

extension IPAddress {
  /// The first address of this machine in a network; an IPv4 address comes first, since people can read it.
  package static var ofThisMachine: String? {
    var first: UnsafeMutablePointer<ifaddrs>?
    guard getifaddrs(&first) == 0 else { return nil }
    defer { freeifaddrs(first) }
    var found: [String] = []
    var next = first
    while let entry = next?.pointee {
      next = entry.ifa_next
      let isUsed =
        entry.ifa_flags & UInt32(IFF_UP) != 0
        && entry.ifa_flags & UInt32(IFF_LOOPBACK) == 0
      guard isUsed, let address = entry.ifa_addr else { continue }
      var storage = sockaddr_storage()
      let size =
        Int32(address.pointee.sa_family) == AF_INET6
        ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size
      withUnsafeMutableBytes(of: &storage) { bytes in
        bytes.copyMemory(from: UnsafeRawBufferPointer(start: address, count: size))
      }
      found.append(text(storage))
    }
    // Link-local ones need the name of an interface.
    let usable = found.filter { !$0.isEmpty && !$0.hasPrefix("fe80:") }
    return usable.first { !$0.contains(":") } ?? usable.first
  }
}
