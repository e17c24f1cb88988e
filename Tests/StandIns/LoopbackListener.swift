import Foundation
import Glibc

/// A socket that listens on a free port of this machine, which the caller closes.
package func loopbackListener(backlog: Int32) throws -> (descriptor: Int32, port: Int) {
  let socket = try loopbackSocket()
  guard listen(socket.descriptor, backlog) == 0 else {
    close(socket.descriptor)
    throw POSIXError(.EADDRNOTAVAIL)
  }
  return socket
}

/// A socket with a free port of this machine, which the caller closes; other sockets may have the same port if
/// `isShared` (`SO_REUSEADDR`).
package func loopbackSocket(isShared: Bool = false) throws -> (descriptor: Int32, port: Int) {
  let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
  var option: Int32 = isShared ? 1 : 0
  setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &option, socklen_t(MemoryLayout<Int32>.size))
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
  var size = socklen_t(MemoryLayout<sockaddr_in>.size)
  let isBound = withUnsafeMutablePointer(to: &address) { pointer in
    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      bind(descriptor, $0, size) == 0 && getsockname(descriptor, $0, &size) == 0
    }
  }
  guard isBound else {
    close(descriptor)
    throw POSIXError(.EADDRNOTAVAIL)
  }
  return (descriptor, Int(UInt16(bigEndian: address.sin_port)))
}
