import CLinux
import Glibc
import Synchronization

/// Looks into a folder that is asked again and again whether it is empty: one system call as long as
/// nothing was changed in it.
final class FolderView: Sendable {
  private let folder: Descriptor
  /// The time of the change, in nanoseconds, after which it was found empty.
  private let known = Atomic(0)

  /// Opens the folder; nil when that is not allowed.
  init?(_ path: String) {
    guard let folder = Descriptor(open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC))
    else { return nil }
    self.folder = folder
  }

  /// Whether there is nothing in it; its mode, which is the plugin's to change, is put right.
  var isEmpty: Bool {
    var status = stat()
    guard fstat(folder.number, &status) == 0 else { return false }
    let changed = FileStamp.nanoseconds(max(status.st_ctim, status.st_mtim))
    if changed == known.load(ordering: .relaxed) { return true }
    if status.st_mode & 0o777 != 0o700, fchmod(folder.number, 0o700) != 0 { return false }
    guard clinux_is_empty_folder(folder.number) == 1 else { return false }
    // Another change in the same tick of the file system's clock would have the same time.
    if FileStamp.isSettled(changed) { known.store(changed, ordering: .relaxed) }
    return true
  }
}

private func max(_ one: timespec, _ other: timespec) -> timespec {
  (one.tv_sec, one.tv_nsec) > (other.tv_sec, other.tv_nsec) ? one : other
}
