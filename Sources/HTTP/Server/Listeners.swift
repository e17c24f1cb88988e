import CLinux
import Glibc
import Primitives

/// The listening sockets of a server, one for each thread, on one port (SO_REUSEPORT).
package struct Listeners: Sendable {
  let sockets: [FileDescriptor]
  let port: UInt16
  /// The numeric address.
  var host: String { Self.host(of: sockets[0].number) }

  /// Connections that may wait for accept(2), on each socket.
  private static let backlog: Int32 = 1024
  /// The milliseconds after which a peer that acknowledges nothing is disconnected (TCP_USER_TIMEOUT).
  private static let acknowledgementTimeout: Int32 = 60_000

  /// Listens; connections wait until a server accepts them.
  ///
  /// - Parameter configuration: where to listen, and on how many sockets.
  /// - Returns: the sockets.
  /// - Throws: `ServerError` if the address cannot be used.
  package static func open(_ configuration: ServerConfiguration) throws(ServerError) -> Listeners {
    if !configuration.listeningSockets.isEmpty { return try adopt(configuration) }
    var port = configuration.port
    // SO_REUSEPORT would let a second server of the same user share the port unnoticed: a socket
    // without it fails to bind then.
    if port != 0 { _ = try bind(configuration, port, isShared: false) }
    var sockets: [FileDescriptor] = []
    for _ in 0..<configuration.threads {
      let socket = try bind(configuration, port, isShared: true)
      guard listen(socket.number, backlog) == 0 else { throw failure(errno, configuration) }
      sockets.append(socket)
      // The first socket may have got any free port; the others need the same.
      port = Self.port(of: socket.number)
    }
    return Listeners(sockets: sockets, port: port)
  }

  /// Uses the sockets of a service manager, which go on listening when this process has ended.
  ///
  /// If there are fewer than threads, some threads share a socket.
  private static func adopt(_ configuration: ServerConfiguration) throws(ServerError) -> Listeners {
    let given = configuration.listeningSockets
    var sockets: [FileDescriptor] = []
    for index in 0..<max(configuration.threads, given.count) {
      let number = fcntl(given[index % given.count], F_DUPFD_CLOEXEC, 3)
      guard let socket = FileDescriptor(owning: number) else { throw failure(errno, configuration) }
      var isListening: Int32 = 0
      var size = socklen_t(MemoryLayout<Int32>.size)
      getsockopt(number, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &size)
      guard isListening == 1 else {
        throw ServerError(
          code: .cannotListen,
          reason: "The service manager passed a descriptor that is no listening stream socket.")
      }
      _ = fcntl(number, F_SETFL, fcntl(number, F_GETFL) | O_NONBLOCK)
      set(number, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
      set(number, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, acknowledgementTimeout)
      sockets.append(socket)
    }
    for number in given { close(number) }
    return Listeners(sockets: sockets, port: port(of: sockets[0].number))
  }

  /// A non-blocking socket with the address; connections inherit its options.
  private static func bind(
    _ configuration: ServerConfiguration, _ port: UInt16, isShared: Bool
  ) throws(ServerError) -> FileDescriptor {
    var hints = addrinfo()
    hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(configuration.host, "\(port)", &hints, &found) == 0,
      let address = found?.pointee
    else { throw failure(EADDRNOTAVAIL, configuration) }
    defer { freeaddrinfo(found) }
    let type = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
    let descriptor = socket(address.ai_family, Int32(type), 0)
    guard let owned = FileDescriptor(owning: descriptor) else {
      throw failure(errno, configuration)
    }
    set(descriptor, SOL_SOCKET, SO_REUSEADDR, 1)
    if isShared { set(descriptor, SOL_SOCKET, SO_REUSEPORT, 1) }
    set(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
    set(descriptor, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, acknowledgementTimeout)
    // On loopback there is no link to share, and BBR's pacing costs a timer for every few packets.
    if IPAddress.isLoopback(configuration.host) {
      setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_CONGESTION, "reno", 4)
    }
    guard Glibc.bind(descriptor, address.ai_addr, address.ai_addrlen) == 0 else {
      throw failure(errno, configuration)
    }
    return owned
  }

  private static func set(_ descriptor: Int32, _ level: Int32, _ option: Int32, _ value: Int32) {
    var value = value
    setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
  }

  private static func host(of descriptor: Int32) -> String {
    var address = sockaddr_storage()
    var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let result = withUnsafeMutableBytes(of: &address) { bytes in
      bytes.assumingMemoryBound(to: sockaddr.self).baseAddress.map {
        getsockname(descriptor, $0, &size)
      }
    }
    return result == 0 ? IPAddress.text(address) : ""
  }

  private static func port(of descriptor: Int32) -> UInt16 {
    var address = sockaddr_storage()
    var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
    return withUnsafeMutableBytes(of: &address) { bytes in
      let socket = bytes.assumingMemoryBound(to: sockaddr.self).baseAddress
      guard let socket, getsockname(descriptor, socket, &size) == 0 else { return 0 }
      // sockaddr_in and sockaddr_in6 have the port at the same offset.
      return UInt16(bigEndian: bytes.load(fromByteOffset: 2, as: UInt16.self))
    }
  }

  private static func failure(
    _ error: Int32, _ configuration: ServerConfiguration
  ) -> ServerError {
    let place = "\(configuration.host):\(configuration.port)"
    return ServerError(
      code: error == EADDRINUSE ? .addressInUse : .cannotListen,
      reason: error == EADDRINUSE
        ? "Another program is already listening on \(place)."
        : "The server cannot listen on \(place): \(String(cString: strerror(error))).")
  }
}
