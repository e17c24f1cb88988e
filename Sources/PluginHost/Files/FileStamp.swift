import COpenSSL
import Glibc
import Primitives

/// What identifies a version of a file without reading it.
struct FileStamp: Hashable {
  let path: String
  let mode: mode_t
  let size: Int
  private let device: dev_t
  private let inode: ino_t
  private let changed: Int
  private let modified: Int

  /// The stamp of what `path` names, after following symbolic links; nil if there is nothing.
  init?(_ path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    self.path = path
    mode = status.st_mode
    size = Int(status.st_size)
    device = status.st_dev
    inode = status.st_ino
    changed = FileStamp.nanoseconds(status.st_ctim)
    modified = FileStamp.nanoseconds(status.st_mtim)
  }

  /// The path of its folder.
  var parent: String { path.parentPath }
  var isFolder: Bool { mode & S_IFMT == S_IFDIR }
  var isRegularFile: Bool { mode & S_IFMT == S_IFREG }
  var isExecutable: Bool { isRegularFile && access(path, X_OK) == 0 }
  var isWorldWritable: Bool { mode & S_IWOTH != 0 }

  /// Whether the path itself is a symbolic link.
  static func isLink(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
  }

  /// Whether the file still has this stamp.
  var isCurrent: Bool { FileStamp(path) == self }

  /// Whether every later change will change the stamp.
  var isSettled: Bool { FileStamp.isSettled(max(changed, modified)) }

  /// The same for the time of the last change in nanoseconds since 1970.
  static func isSettled(_ time: Int) -> Bool {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return time < nanoseconds(now) - clockTick
  }

  /// A few ticks of the kernel's clock (10 ms at CONFIG_HZ=100), in nanoseconds: times on a file system
  /// advance with it, so that two changes within one tick have the same time.
  private static let clockTick = 50_000_000

  /// A time in nanoseconds since 1970; the nearest one of the years 1678 to 2261, for which they are few enough.
  ///
  /// The owner of a file can set another year: a plugin that of its TMPDIR.
  static func nanoseconds(_ time: timespec) -> Int {
    min(max(time.tv_sec, -9_223_372_036), 9_223_372_035) * 1_000_000_000 + time.tv_nsec
  }
}

extension String {
  /// The path of the folder that a path is in; that of `/` is `/`.
  var parentPath: String {
    let end = lastIndex(of: "/") ?? startIndex
    return end == startIndex ? "/" : String(self[..<end])
  }

  /// The path without symbolic links (realpath(3)), also of a file that is yet to be made.
  package var realPath: String {
    if let path = realpath(self, nil) {
      defer { free(path) }
      return String(cString: path)
    }
    let folder = contains("/") ? parentPath : "."
    return folder == self ? self : folder.realPath + "/" + (split(separator: "/").last ?? "")
  }

  /// Whether the path, without symbolic links, is this folder or lies in it.
  package func isInside(_ folder: String) -> Bool { self == folder || hasPrefix(folder + "/") }
}

/// SHA-256 hashes in hexadecimal.
enum SHA256 {
  /// The hash of a text.
  static func hex(of text: String) -> String {
    var hex = [CChar](repeating: 0, count: 65)
    copenssl_sha256_hex(text, text.utf8.count, &hex)
    return String(decoding: hex.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  /// The hash of a file's content; nil if it cannot be read.
  static func hex(ofFile path: String) -> String? {
    // Non-blocking: to open a pipe would wait for its writer.
    guard let file = try? FileDescriptor(path, O_RDONLY | O_NONBLOCK) else { return nil }
    let hash = copenssl_hash_make()
    defer { copenssl_hash_free(hash) }
    let isWhole = withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 16) { buffer in
      while let count = try? file.read(into: buffer) {
        if count == 0 { return true }
        copenssl_hash_add(hash, buffer.baseAddress, count)
      }
      return false
    }
    guard isWhole else { return nil }
    var digest = [UInt8](repeating: 0, count: 32)
    copenssl_hash_finish(hash, &digest)
    return digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}
