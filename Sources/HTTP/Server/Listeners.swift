import CLinux
import Glibc

/// The listening sockets of a server, one for each thread, on one port (SO_REUSEPORT).
package struct Listeners: Sendable {
  let descriptors: [Int32]
  let port: UInt16

  /// Connections that may wait to be accepted, on each socket.
  private static let backlog: Int32 = 1024
  /// A peer that acknowledges nothing for so many milliseconds is gone.
  private static let patience: Int32 = 60_000

  /// Listens; connections wait until a server takes them. Binds the first socket, and the others to the port
  /// that it got.
  ///
  /// - Throws: `ServerError` when the address cannot be had.
  package static func open(_ configuration: ServerConfiguration) throws(ServerError) -> Listeners {
    var port = configuration.port
    // SO_REUSEPORT would let a second server of the same user share the port without a word.
    if port != 0 { close(try bound(configuration, port, isShared: false)) }
    var descriptors: [Int32] = []
    do throws(ServerError) {
      for _ in 0..<configuration.threads {
        let descriptor = try bound(configuration, port, isShared: true)
        descriptors.append(descriptor)
        guard listen(descriptor, backlog) == 0 else { throw fault(errno, configuration) }
        port = Self.port(of: descriptor)
      }
    } catch {
      for descriptor in descriptors { close(descriptor) }
      throw error
    }
    return Listeners(descriptors: descriptors, port: port)
  }

  /// A non-blocking socket with the address; what it accepts inherits its options.
  private static func bound(
    _ configuration: ServerConfiguration, _ port: UInt16, isShared: Bool
  ) throws(ServerError) -> Int32 {
    var hints = addrinfo()
    hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(configuration.host, "\(port)", &hints, &found) == 0,
      let address = found?.pointee
    else { throw fault(EADDRNOTAVAIL, configuration) }
    defer { freeaddrinfo(found) }
    let kind = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
    let descriptor = socket(address.ai_family, Int32(kind), 0)
    guard descriptor >= 0 else { throw fault(errno, configuration) }
    set(descriptor, SOL_SOCKET, SO_REUSEADDR, 1)
    if isShared { set(descriptor, SOL_SOCKET, SO_REUSEPORT, 1) }
    set(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
    set(descriptor, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, patience)
    // On loopback there is no line to share, and pacing (BBR) costs a timer for every few packets.
    if Address.isLoopback(configuration.host) { setReno(descriptor) }
    guard bind(descriptor, address.ai_addr, address.ai_addrlen) == 0 else {
      let number = errno
      close(descriptor)
      throw fault(number, configuration)
    }
    return descriptor
  }

  private static func set(_ descriptor: Int32, _ level: Int32, _ option: Int32, _ value: Int32) {
    var value = value
    setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
  }

  private static func setReno(_ descriptor: Int32) {
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_CONGESTION, "reno", 4)
  }

  private static func port(of descriptor: Int32) -> UInt16 {
    var address = sockaddr_storage()
    var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
    return withUnsafeMutableBytes(of: &address) { bytes in
      let socket = bytes.assumingMemoryBound(to: sockaddr.self).baseAddress
      guard let socket, getsockname(descriptor, socket, &size) == 0 else { return 0 }
      // The port stands at the same place for IPv4 and IPv6.
      return UInt16(bigEndian: bytes.load(fromByteOffset: 2, as: UInt16.self))
    }
  }

  private static func fault(_ number: Int32, _ configuration: ServerConfiguration) -> ServerError {
    let place = "\(configuration.host):\(configuration.port)"
    return ServerError(
      code: number == EADDRINUSE ? .addressInUse : .cannotListen,
      reason: number == EADDRINUSE
        ? "Another program is listening on \(place) already."
        : "The server cannot listen on \(place): \(String(cString: strerror(number))).")
  }
}
