import Glibc
import Synchronization

/// A request's body in a file of its own, which is removed when nobody has taken it.
package final class SavedBody: Sendable {
  /// Where it stands, in the folder that was asked for; not yet synced to the disk.
  package let path: String
  /// Its size in bytes.
  package let size: Int
  private let taken = Atomic(false)

  init(path: String, size: Int) {
    self.path = path
    self.size = size
  }

  deinit { if !taken.load(ordering: .relaxed) { unlink(path) } }

  /// The path; from now on the caller owns the file (and has likely renamed it).
  package func take() -> String {
    taken.store(true, ordering: .relaxed)
    return path
  }
}
