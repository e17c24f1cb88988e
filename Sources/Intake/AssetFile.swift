import FoundationEssentials
import Glibc
import RichPushAPI

/// A regular file of the drop folder, opened without following any link.
struct AssetFile: ~Copyable {
  let descriptor: Int32
  let size: Int
  let modified: Date
  /// Identifies the state of the file without reading it.
  let stamp: String

  deinit { close(descriptor) }

  /// Opens `name` in the folder that `folder` is a descriptor of.
  ///
  /// - Throws: `ServiceError` 404 when there is no such name, 422 when it is not a readable file.
  init(folder: Int32, name: String) throws(ServiceError) {
    var before = Glibc.stat()
    guard fstatat(folder, name, &before, AT_SYMLINK_NOFOLLOW) == 0 else {
      throw ServiceError(.notFound, "There is no file \(name.quoted).")
    }
    if let sentence = Self.refusal(of: before.st_mode) { throw ServiceError(.rejected, sentence) }
    // O_NONBLOCK: opening must not block if the file was replaced by a pipe since fstatat.
    let opened = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard opened >= 0 else {
      throw errno == ENOENT
        ? ServiceError(.notFound, "There is no file \(name.quoted).")
        : ServiceError(.rejected, "The file cannot be read: \(String(cString: strerror(errno))).")
    }
    var status = Glibc.stat()
    guard fstat(opened, &status) == 0, Self.refusal(of: status.st_mode) == nil else {
      close(opened)
      throw ServiceError(.rejected, "The file changed while it was being opened.")
    }
    descriptor = opened
    size = Int(status.st_size)
    modified = Date(timeIntervalSince1970: Double(status.st_mtim.tv_sec))
    stamp = status.stamp
  }

  /// Whether a process still writes to it.
  ///
  /// The kernel grants a read lease on a file that nobody has open for writing (fcntl(2)); where it
  /// keeps none, as on a network share, a file rests when it was not changed for two seconds.
  /// A file that its writer has `closed`, as the kernel reported, is complete at once.
  func isBeingWritten(closed: Bool) -> Bool {
    // The kernel signals a writer that opens the file during the lease; SIGURG is ignored by default.
    _ = fcntl(descriptor, 10 /* F_SETSIG */, SIGURG)
    if fcntl(descriptor, 1024 /* F_SETLEASE */, F_RDLCK) == 0 {
      _ = fcntl(descriptor, 1024 /* F_SETLEASE */, F_UNLCK)
      return false
    }
    if errno == EAGAIN { return true }
    return !closed && (0..<2).contains(Date().timeIntervalSince(modified))
  }

  /// The first bytes, for detecting the type.
  func prefix(_ count: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      filled = max(0, pread(descriptor, buffer.baseAddress, count, 0))
    }
  }

  /// Why something that is not a regular file cannot be an asset.
  private static func refusal(of mode: mode_t) -> String? {
    switch mode & S_IFMT {
    case S_IFREG: nil
    case S_IFDIR: "It is a folder: put its files into the folder above it."
    case S_IFLNK: "It is a symbolic link: copy the file itself into the folder."
    case S_IFIFO: "It is a pipe, not a file."
    case S_IFSOCK: "It is a socket, not a file."
    default: "It is a device, not a file."
    }
  }
}
