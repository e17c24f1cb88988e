import Glibc
import StandIns
import Testing

/// A socket that is connected to a port of this machine and waits a minute for what it reads.
func loopbackSocket(port: Int) throws -> Int32 {
  let socket = connectedSocket(port: port)
  return try #require(socket, "no connection: \(String(cString: strerror(errno)))")
}

/// The same; nil where nobody takes the connection.
func connectedSocket(port: Int) -> Int32? {
  let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
  var patience = timeval(tv_sec: 60, tv_usec: 0)
  setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_port = in_port_t(port).bigEndian
  address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
  let connected = withUnsafePointer(to: &address) { pointer in
    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
    }
  }
  if connected == 0 { return socket }
  let reason = errno
  close(socket)
  errno = reason
  return nil
}

/// A port of this machine that no other program is given while this exists, and on which nobody listens.
///
/// A program can listen on it if it sets SO_REUSEADDR, as servers do, also after one before it has ended.
final class ReservedPort: Sendable {
  let number: Int
  private let descriptor: Int32

  init() throws { (descriptor, number) = try loopbackSocket(isShared: true) }

  deinit { close(descriptor) }
}
