import Glibc

/// A file made for one reply: whoever wants to keep it renames it, else it goes with the reply.
package struct SpooledFile: Sendable {
  /// Removes the name, when it is still there, with the last copy of the value.
  final class Owner: Sendable {
    private let path: String
    init(path: String) { self.path = path }
    deinit { unlink(path) }
  }

  /// Where it is, on the file system of the host's temporary folder.
  package let path: String
  /// Its size in bytes.
  package let size: Int
  let owner: Owner

  init(path: String, size: Int, owner: Owner? = nil) {
    self.path = path
    self.size = size
    self.owner = owner ?? Owner(path: path)
  }
}
