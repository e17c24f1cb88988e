import Foundation
import Glibc

/// A socket that listens on a free port of this machine, which the caller closes.
package func loopbackListener(backlog: Int32) throws -> (descriptor: Int32, port: Int) {
  let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
  var size = socklen_t(MemoryLayout<sockaddr_in>.size)
  let isListening = withUnsafeMutablePointer(to: &address) { pointer in
    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      bind(descriptor, $0, size) == 0 && listen(descriptor, backlog) == 0
        && getsockname(descriptor, $0, &size) == 0
    }
  }
  guard isListening else {
    close(descriptor)
    throw POSIXError(.EADDRNOTAVAIL)
  }
  return (descriptor, Int(UInt16(bigEndian: address.sin_port)))
}
