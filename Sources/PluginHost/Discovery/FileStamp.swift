import Glibc

/// What tells, without reading it, that a file is the one it was.
struct FileStamp: Hashable {
  let path: String
  let mode: mode_t
  let size: Int
  private let device: dev_t
  private let inode: ino_t
  private let changed: Int
  private let modified: Int

  /// The stamp of what `path` names, a symbolic link followed; nil when there is nothing.
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

  /// The folder it is in.
  var parent: String { String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]) }
  var isFolder: Bool { mode & S_IFMT == S_IFDIR }
  var isRegularFile: Bool { mode & S_IFMT == S_IFREG }
  var isExecutable: Bool { isRegularFile && access(path, X_OK) == 0 }

  /// Whether the file still looks the same.
  var isCurrent: Bool { FileStamp(path) == self }

  /// Whether a change within the same tick of the file system's clock can no longer come.
  var isSettled: Bool { FileStamp.isSettled(max(changed, modified)) }

  /// The same for the time of a change, in nanoseconds.
  static func isSettled(_ moment: Int) -> Bool {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return moment < nanoseconds(now) - 50_000_000
  }

  static func nanoseconds(_ time: timespec) -> Int {
    time.tv_sec * 1_000_000_000 + time.tv_nsec
  }
}
