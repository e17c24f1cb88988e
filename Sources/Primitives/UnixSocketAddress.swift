import Glibc

/// The address of a Unix socket in a folder, however long the folder's path is.
package struct UnixSocketAddress {
  private var address = sockaddr_un()
  /// The open folder that the address names, if its path is too long for an address.
  private let folder: FileDescriptor?

  /// `sun_path` has 108 bytes, the last of which is NUL (unix(7)).
  private static let longestPath = 107

  /// The socket `name` in the folder at `path`.
  package init(_ name: String, in path: String) throws(Errno) {
    let socket = "\(path)/\(name)"
    if socket.utf8.count <= Self.longestPath {
      self.init(path: socket, folder: nil)
    } else {
      // O_PATH, which Swift's Glibc does not show, needs no permission to list the folder.
      self.init(name, in: try FileDescriptor(path, 0o10000000 | O_DIRECTORY | O_NOFOLLOW))
    }
  }

  /// The socket `name` in an open folder.
  package init(_ name: String, in folder: FileDescriptor) {
    self.init(path: "/proc/self/fd/\(folder.number)/\(name)", folder: folder)
  }

  private init(path: String, folder: FileDescriptor?) {
    self.folder = folder
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
  }

  /// Gives a socket this address (`bind`).
  package func bind(_ socket: FileDescriptor) throws(Errno) {
    try call { Glibc.bind(socket.number, $0, $1) }
  }

  /// Connects a socket to the one with this address (`connect`).
  package func connect(_ socket: FileDescriptor) throws(Errno) {
    try call { Glibc.connect(socket.number, $0, $1) }
  }

  private func call(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) throws(Errno) {
    let result = withUnsafePointer(to: address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    let error = Errno.current
    try withExtendedLifetime(folder) { () throws(Errno) in if result != 0 { throw error } }
  }
}
