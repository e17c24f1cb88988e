import CLinux
import Glibc
import Synchronization

/// Looks into a folder that is asked again and again whether it is empty: one system call as long as
/// nothing was changed in it.
final class FolderView: Sendable {
  private let path: String
  /// Opened when it is first asked: before, a launcher may not have made the folder yet.
  private let folder = Mutex<Descriptor?>(nil)
  /// The time of the change, in nanoseconds, after which it was found empty.
  private let known = Atomic(0)

  init(_ path: String) {
    self.path = path
  }

  /// Whether there is nothing in it; its mode, which is the plugin's to change, is put right.
  var isEmpty: Bool {
    guard let folder = opened, let status = Self.status(of: folder) else { return false }
    let changed = Self.change(status)
    if changed == known.load(ordering: .relaxed) { return true }
    if status.st_mode & 0o777 != 0o700, fchmod(folder.number, 0o700) != 0 { return false }
    guard clinux_is_empty_folder(folder.number) == 1 else { return false }
    remember(changed)
    return true
  }

  /// Whether nothing was changed since it was found empty; all that can be told of another user's folder.
  var isUnchanged: Bool {
    guard let folder = opened, let status = Self.status(of: folder) else { return false }
    return Self.change(status) == known.load(ordering: .relaxed)
  }

  /// Notes that somebody else found it empty.
  func noteEmpty() {
    if let folder = opened, let status = Self.status(of: folder) { remember(Self.change(status)) }
  }

  private var opened: Descriptor? {
    folder.withLock { folder in
      if folder == nil {
        folder =
          Descriptor(open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC))
          ?? Descriptor(clinux_open_place(AT_FDCWD, path))
      }
      return folder
    }
  }

  private func remember(_ changed: Int) {
    // Another change in the same tick of the file system's clock would have the same time.
    if FileStamp.isSettled(changed) { known.store(changed, ordering: .relaxed) }
  }

  private static func status(of folder: Descriptor) -> stat? {
    var status = stat()
    return fstat(folder.number, &status) == 0 ? status : nil
  }

  private static func change(_ status: stat) -> Int {
    max(FileStamp.nanoseconds(status.st_ctim), FileStamp.nanoseconds(status.st_mtim))
  }
}
