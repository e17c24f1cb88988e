import CLinux
import Glibc

/// The socket called `socket` in a folder.
///
/// The folder is named through a descriptor, because an address has room for 107 bytes only.
enum UnixSocket {
  /// A socket that listens there, blocking, for the worker.
  static func listener(in folder: String) -> Descriptor? {
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    guard let socket = Descriptor(socket(AF_UNIX, kind, 0)),
      reach(folder, { bind(socket.number, $0, $1) }), listen(socket.number, 64) == 0
    else { return nil }
    return socket
  }

  /// A connection to it that never blocks; nil when nobody listens.
  static func connection(in folder: String) -> Descriptor? {
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    guard let socket = Descriptor(socket(AF_UNIX, kind, 0)),
      reach(folder, { connect(socket.number, $0, $1) })
    else { return nil }
    return socket
  }

  private static func reach(
    _ folder: String, _ call: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Bool {
    var path = "\(folder)/socket"
    var place: Descriptor?
    if path.utf8.count > 100 {
      place = Descriptor(clinux_open_place(AT_FDCWD, folder))
      path = "/proc/self/fd/\(place?.number ?? -1)/socket"
    }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    return withExtendedLifetime(place) {
      withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          call($0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
        }
      }
    }
  }
}
