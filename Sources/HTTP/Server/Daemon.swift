import CMicroHTTPD
import Glibc

/// One event loop on one thread with one listening socket (struct MHD_Daemon).
final class Daemon: Sendable {
  /// libmicrohttpd guards it with its own locks.
  private nonisolated(unsafe) let handle: OpaquePointer
  private let listener: Int32
  /// Retained as long as callbacks may come.
  private nonisolated(unsafe) let context: Unmanaged<Worker>

  /// Starts accepting on the socket, which the daemon then owns.
  init(listener: Int32, worker: Worker, configuration: ServerConfiguration) throws(ServerError) {
    context = Unmanaged.passRetained(worker)
    var settings = cmicrohttpd_settings()
    settings.listener = listener
    settings.connections = UInt32(Self.capacity(configuration))
    settings.memory = 12 * 1024  // cleared after every request, so no more than is needed
    settings.context = context.toOpaque()
    settings.admit = Callbacks.admit
    settings.connected = Callbacks.connected
    settings.targeted = Callbacks.targeted
    settings.access = Callbacks.access
    settings.completed = Callbacks.completed
    settings.refused = Callbacks.refused
    guard let handle = Self.start(&settings, tls: configuration.tls) else {
      let reason = String(cString: strerror(errno))
      context.release()
      close(listener)
      throw ServerError(code: .cannotStart, reason: "The HTTP server cannot start: \(reason).")
    }
    self.handle = handle
    self.listener = listener
  }

  /// More than ``OpenConnections`` lets any loop have: at its own limit, libmicrohttpd stops accepting,
  /// and whoever the kernel has sent to this loop would wait while others have room.
  private static func capacity(_ configuration: ServerConfiguration) -> Int {
    let limit = configuration.limits.connections
    return limit + OpenConnections.excess(over: limit) + configuration.threads
  }

  private static func start(
    _ settings: inout cmicrohttpd_settings, tls: TLSIdentity?
  ) -> OpaquePointer? {
    guard let tls else { return cmicrohttpd_start(&settings) }
    return tls.certificate.withCString { certificate in
      tls.key.withCString { key in
        "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:%SERVER_PRECEDENCE".withCString { priorities in
          settings.certificate = certificate
          settings.key = key
          settings.priorities = priorities
          return cmicrohttpd_start(&settings)
        }
      }
    }
  }

  /// Connections that are still open.
  var openConnections: Int { Int(cmicrohttpd_connections(handle)) }

  /// Another descriptor of the listening socket, for a successor; -1 when there is none.
  func duplicateListener() -> Int32 { fcntl(listener, F_DUPFD_CLOEXEC, 0) }

  /// Accepts no more connections (MHD_quiesce_daemon).
  func quiesce() {
    let listener = MHD_quiesce_daemon(handle)
    if listener >= 0 { close(listener) }
  }

  /// Ends the thread (MHD_stop_daemon), which blocks; no connection may be suspended any more.
  func stop() {
    MHD_stop_daemon(handle)
    context.release()
  }
}
