import CLinux
import Glibc

/// Removes a folder with all it holds, however deep and whatever its permissions.
///
/// No more than a few descriptors are open at a time: an inner folder is moved up to the top before
/// it is looked into, so that depth costs nothing. Symbolic links are removed, never followed.
enum FolderRemoval {
  /// Removes the folder `name` in `parent`.
  static func remove(_ name: String, in parent: String) {
    guard let place = Descriptor(clinux_open_place(AT_FDCWD, parent)) else { return }
    empty(name, in: place)
    unlinkat(place.number, name, AT_REMOVEDIR)
  }

  /// Removes all that the folder `name` in `parent` holds; true when nothing is left.
  @discardableResult
  static func empty(_ name: String, in parent: Descriptor) -> Bool {
    guard let top = opened(name, in: parent) else { return false }
    let prefix = String(UInt64.random(in: .min ... .max), radix: 36)
    var count = 0
    func empty(_ folder: Descriptor) {
      for entry in FolderListing(folder).names where unlinkat(folder.number, entry, 0) != 0 {
        if unlinkat(folder.number, entry, AT_REMOVEDIR) == 0 { continue }
        unlock(entry, in: folder)
        count += 1
        renameat(folder.number, entry, top.number, "\(prefix)-\(count)")
      }
    }
    empty(top)
    var done = 0
    while done < count {
      done += 1
      guard let inner = opened("\(prefix)-\(done)", in: top) else { continue }
      empty(inner)
      unlinkat(top.number, "\(prefix)-\(done)", AT_REMOVEDIR)
    }
    return FolderListing(top).names.isEmpty
  }

  private static func opened(_ name: String, in folder: Descriptor) -> Descriptor? {
    unlock(name, in: folder)
    return Descriptor(
      openat(folder.number, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC))
  }

  /// Gives us back the right to look into a folder and change it.
  ///
  /// Its place is held by a descriptor,
  /// so that a plugin still alive cannot put a link there meanwhile.
  private static func unlock(_ name: UnsafePointer<CChar>, in folder: Descriptor) {
    guard let place = Descriptor(clinux_open_place(folder.number, name)) else { return }
    chmod("/proc/self/fd/\(place.number)", 0o700)
  }
}
