import CMicroHTTPD
import Glibc

/// The listening sockets of a server, one for each thread, on one port (SO_REUSEPORT).
struct Listeners {
  let descriptors: [Int32]
  let port: UInt16

  /// Binds the first, and the others to the port that it got.
  static func open(_ configuration: ServerConfiguration) throws(ServerError) -> Listeners {
    var port = configuration.port
    var descriptors: [Int32] = []
    // SO_REUSEPORT would let a second server of the same user share the port without a word.
    if port != 0, cmicrohttpd_is_taken(configuration.host, port) != 0 {
      throw fault(EADDRINUSE, configuration)
    }
    for _ in 0..<configuration.threads {
      let descriptor = cmicrohttpd_listen(configuration.host, &port, 1024)
      guard descriptor >= 0 else {
        let number = errno
        for opened in descriptors { close(opened) }
        throw fault(number, configuration)
      }
      descriptors.append(descriptor)
    }
    return Listeners(descriptors: descriptors, port: port)
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
