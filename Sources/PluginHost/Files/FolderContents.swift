import CLinux
import Glibc
import Primitives

/// Removes folders, however deep they are and whatever their permissions.
///
/// Only a few descriptors are open at a time: an inner folder is moved to the top before it is read, so that
/// depth costs nothing. Symbolic links are removed, never followed.
enum FolderRemoval {
  /// Removes the folder `name` in `parent`.
  static func remove(_ name: String, in parent: String) {
    guard let place = FileDescriptor.place(parent) else { return }
    empty(name, in: place)
    unlinkat(place.number, name, AT_REMOVEDIR)
  }

  /// Removes the content of the folder `name` in `parent`; true if nothing is left.
  @discardableResult
  static func empty(_ name: String, in parent: FileDescriptor) -> Bool {
    guard let top = opened(name, in: parent) else { return false }
    let prefix = String.randomName()
    var found = 0
    func empty(_ folder: FileDescriptor) {
      let entries = (try? FolderListing(folder))?.names ?? []
      for entry in entries where unlinkat(folder.number, entry, 0) != 0 {
        if unlinkat(folder.number, entry, AT_REMOVEDIR) == 0 { continue }
        unlock(entry, in: folder)
        found += 1
        renameat(folder.number, entry, top.number, "\(prefix)-\(found)")
      }
    }
    empty(top)
    var done = 0
    while done < found {
      done += 1
      guard let inner = opened("\(prefix)-\(done)", in: top) else { continue }
      empty(inner)
      unlinkat(top.number, "\(prefix)-\(done)", AT_REMOVEDIR)
    }
    return (try? FolderListing(top))?.names.isEmpty == true
  }

  private static func opened(_ name: String, in folder: FileDescriptor) -> FileDescriptor? {
    unlock(name, in: folder)
    return FileDescriptor(
      owning: openat(folder.number, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC))
  }

  /// Makes a folder readable and writable for us.
  private static func unlock(_ name: UnsafePointer<CChar>, in folder: FileDescriptor) {
    // Through a descriptor of the folder: a plugin that is still alive could replace the name by a
    // link to a file of the server's.
    guard let place = FileDescriptor(owning: clinux_open_place(folder.number, name)) else { return }
    chmod("/proc/self/fd/\(place.number)", 0o700)
  }
}

extension FileDescriptor {
  /// A folder opened as a path only (`O_PATH`), which needs no permission on it; nil if there is none.
  static func place(_ path: String) -> FileDescriptor? {
    FileDescriptor(owning: clinux_open_place(AT_FDCWD, path))
  }
}
