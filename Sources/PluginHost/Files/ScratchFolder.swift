import CLinux
import Dispatch
import Glibc

/// A folder of one call's own (its TMPDIR), removed afterwards whatever the plugin made of it.
struct ScratchFolder: Sendable {
  let path: String
  private let parent: String
  private let name: String
  /// Looks into it, for as long as it is asked again and again.
  private let view: FolderView?
  private let user: PluginUser
  private let forker: Forker?

  /// Makes an empty folder below `parent`; nil when the disk does not let it.
  init?(in parent: String) {
    self.parent = parent
    name = "plugin-" + String(UInt64.random(in: .min ... .max), radix: 36)
    path = "\(parent)/\(name)"
    view = nil
    user = .server("")
    forker = nil
    isForeign = false
    guard mkdir(path, 0o700) == 0 else { return nil }
  }

  /// A folder that is there, or is made before the first call, and stays.
  ///
  /// - Parameters:
  ///   - name: Its name.
  ///   - parent: The folder it is in.
  ///   - user: Whose it is.
  ///   - forker: Looks into it where this process may not.
  init(existing name: String, in parent: String, of user: PluginUser, forker: Forker) {
    self.parent = parent
    self.name = name
    path = "\(parent)/\(name)"
    view = FolderView(path)
    (self.user, self.forker) = (user, forker)
    isForeign = user.isOwn && geteuid() != 0
  }

  /// Whether it belongs to another user, so that only the launcher can look into it.
  let isForeign: Bool

  /// A regular file in the folder, opened for reading without following any link.
  ///
  /// - Parameter file: A path as the plugin named it: absolute, or relative to the folder.
  /// - Returns: Nil when there is no such file.
  func open(_ file: String) async -> Descriptor? {
    let relative = file.hasPrefix(path + "/") ? String(file.dropFirst(path.count + 1)) : file
    if isForeign { return await forker?.open(relative, in: path, of: user) }
    guard let folder = Descriptor(clinux_open_place(AT_FDCWD, path)),
      let descriptor = Descriptor(clinux_open_beneath(folder.number, relative))
    else { return nil }
    var status = stat()
    guard fstat(descriptor.number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      return nil
    }
    return descriptor
  }

  /// Removes the folder, off the caller's thread when there is something in it.
  func remove() async {
    if rmdir(path) == 0 { return }
    await withCheckedContinuation { done in
      DispatchQueue.global(qos: .utility).async {
        FolderRemoval.remove(name, in: parent)
        done.resume()
      }
    }
  }

  /// Removes all that is in the folder, off the caller's thread when there is something.
  ///
  /// - Returns: Whether the folder is empty now.
  func empty() async -> Bool {
    if isForeign {
      if view?.isUnchanged == true { return true }
      guard let forker, await forker.empty(path, of: user) else { return false }
      view?.noteEmpty()
      return true
    }
    if view?.isEmpty == true { return true }
    return await withCheckedContinuation { done in
      DispatchQueue.global(qos: .utility).async {
        let place = Descriptor(clinux_open_place(AT_FDCWD, parent))
        done.resume(returning: place.map { FolderRemoval.empty(name, in: $0) } ?? false)
      }
    }
  }
}
