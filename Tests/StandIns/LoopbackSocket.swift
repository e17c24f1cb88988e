import Foundation
import Glibc

/// TCP sockets of this machine's loopback; the caller closes them.
package enum LoopbackSocket {
  /// One that listens on a free port.
  package static func listening(backlog: Int32) throws -> (descriptor: Int32, port: Int) {
    let socket = try bound()
    guard listen(socket.descriptor, backlog) == 0 else { throw failure(closing: socket.descriptor) }
    return socket
  }

  /// One with a free port; others may have the same port if `isShared` (`SO_REUSEADDR`).
  package static func bound(isShared: Bool = false) throws -> (descriptor: Int32, port: Int) {
    let descriptor = make()
    set(SO_REUSEADDR, of: descriptor, to: Int32(isShared ? 1 : 0))
    guard with(1, 0, { bind(descriptor, $0, $1) }) == 0 else { throw failure(closing: descriptor) }
    var address = sockaddr_in()
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    _ = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        getsockname(descriptor, $0, &size)
      }
    }
    return (descriptor, Int(UInt16(bigEndian: address.sin_port)))
  }

  /// One that is connected to a port, and waits a minute for what it reads.
  ///
  /// - Parameters:
  ///   - port: The port.
  ///   - address: The client's address: 127.0.0.0 and so much.
  ///   - receiveBuffer: About how many bytes the kernel keeps that were not read; nil for its default.
  /// - Returns: The descriptor.
  /// - Throws: `POSIXError`, if nobody takes the connection.
  package static func connected(
    to port: Int, from address: UInt32 = 1, keeping receiveBuffer: Int32? = nil
  ) throws -> Int32 {
    let descriptor = make()
    // Longer than any answer takes on a busy machine.
    set(SO_RCVTIMEO, of: descriptor, to: timeval(tv_sec: 60, tv_usec: 0))
    if let receiveBuffer { set(SO_RCVBUF, of: descriptor, to: receiveBuffer) }
    if address != 1, with(address, 0, { bind(descriptor, $0, $1) }) != 0 {
      throw failure(closing: descriptor)
    }
    guard with(1, UInt16(port), { connect(descriptor, $0, $1) }) == 0 else {
      throw failure(closing: descriptor)
    }
    return descriptor
  }

  private static func make() -> Int32 {
    socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
  }

  private static func set<Value>(_ option: Int32, of descriptor: Int32, to value: Value) {
    withUnsafePointer(to: value) {
      _ = setsockopt(
        descriptor, SOL_SOCKET, option, $0, socklen_t(MemoryLayout<Value>.size))
    }
  }

  private static func failure(closing descriptor: Int32) -> POSIXError {
    let error = POSIXError(POSIXErrorCode(rawValue: errno) ?? .EADDRNOTAVAIL)
    close(descriptor)
    return error
  }

  private static func with(
    _ host: UInt32, _ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Int32 {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = (0x7F00_0000 + host).bigEndian
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
  }
}
