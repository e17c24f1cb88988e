import FoundationEssentials
import Glibc

/// A regular file of the drop folder, opened without following any link.
struct AssetFile: ~Copyable {
  let descriptor: Int32
  let size: Int
  let modified: Date
  /// What tells one state of the file from another without reading it.
  let stamp: String

  deinit { close(descriptor) }

  /// Opens `name` in the folder that `folder` is a descriptor of.
  ///
  /// - Throws: `Refusal` 404 when there is no such name, 422 when it is not a readable file.
  init(folder: Int32, name: String) throws(Refusal) {
    var before = Glibc.stat()
    guard fstatat(folder, name, &before, AT_SYMLINK_NOFOLLOW) == 0 else {
      throw Refusal(404, "There is no file \(name.quoted).")
    }
    if let sentence = Self.refusal(of: before.st_mode) { throw Refusal(422, sentence) }
    // O_NONBLOCK: whoever puts a pipe in the file's place in this instant must not hang us.
    let opened = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard opened >= 0 else {
      throw Refusal(422, "The file cannot be read: \(String(cString: strerror(errno))).")
    }
    var status = Glibc.stat()
    guard fstat(opened, &status) == 0, Self.refusal(of: status.st_mode) == nil else {
      close(opened)
      throw Refusal(422, "The file changed while it was being opened.")
    }
    descriptor = opened
    size = Int(status.st_size)
    modified = Date(timeIntervalSince1970: Double(status.st_mtim.tv_sec))
    stamp = """
      \(status.st_dev):\(status.st_ino):\(status.st_size):\
      \(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec):\
      \(status.st_ctim.tv_sec).\(status.st_ctim.tv_nsec)
      """
  }

  /// The first bytes, by which the type is told.
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
