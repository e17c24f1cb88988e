package import Glibc

/// The space of a file system (`statvfs`), in bytes.
package struct DiskSpace: Sendable, Equatable {
  /// All of it.
  package let total: Int
  /// What the server may still write.
  package let free: Int

  /// Of the file system that has a file or folder; nil if that cannot be examined.
  package init?(of path: String) {
    var status = statvfs()
    guard statvfs(path, &status) == 0 else { return nil }
    let size = Int(clamping: status.f_frsize)
    (total, free) = (Int(clamping: status.f_blocks) * size, Int(clamping: status.f_bavail) * size)
  }

  /// Identifies the file system that has a file or folder; nil if that cannot be examined.
  package static func device(of path: String) -> dev_t? { stat(ofFile: path)?.st_dev }
}
