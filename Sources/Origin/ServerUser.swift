import FoundationEssentials
import Glibc

/// The user that a server which root started runs as.
package struct ServerUser: Sendable {
  let name: String
  let id: uid_t
  let group: gid_t

  /// Looks the user up.
  ///
  /// - Throws: `ConfigurationError` when there is no such user, or when the caller is not root.
  package init(_ name: String) throws {
    guard geteuid() == 0 else {
      throw ConfigurationError("--user needs a server that root starts; leave it out")
    }
    guard let entry = getpwnam(name)?.pointee, entry.pw_uid != 0 else {
      throw ConfigurationError("--user names no user of this machine but root: \(name)")
    }
    (self.name, id, group) = (name, entry.pw_uid, entry.pw_gid)
  }

  /// Gives the user a file or folder that the caller has just made, with all that is in it.
  package func give(_ path: String) {
    let inner = (try? FileManager.default.subpathsOfDirectory(atPath: path)) ?? []
    for path in [path] + inner.map({ "\(path)/\($0)" }) { lchown(path, id, group) }
  }

  /// Changes a process of root to the owner of a data folder, for good: otherwise it could leave files there
  /// that the server cannot open.
  ///
  /// Changes nothing for another user, and if there is no folder or it is root's own.
  ///
  /// - Throws: `ConfigurationError` when the kernel refuses.
  package static func becomeOwner(of folder: String) throws {
    var status = stat()
    guard geteuid() == 0, stat(folder, &status) == 0, status.st_uid != 0 else { return }
    let entry = getpwuid(status.st_uid)?.pointee
    let group = entry?.pw_gid ?? status.st_gid
    // A user without an entry has no further groups.
    let hasGroups = entry.map { initgroups($0.pw_name, group) } ?? setgroups(1, [group])
    guard hasGroups == 0, setgid(group) == 0, setuid(status.st_uid) == 0, setuid(0) != 0 else {
      throw ConfigurationError("cannot change to the owner of the data folder \(folder)")
    }
  }

  /// Changes this process to the user, for good.
  ///
  /// - Parameter folder: The data folder: made for the user where it is missing, and the user's own.
  /// - Throws: `ConfigurationError` when the folder is another's, or the kernel refuses.
  func become(ownerOf folder: String) throws {
    if mkdir(folder, 0o711) == 0 {
      // By a descriptor: somebody who may write to the folder above could put a link in its place.
      let made = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
      defer { close(made) }
      guard fchown(made, id, group) == 0 else {
        throw ConfigurationError("the folder \(folder) cannot be given to \(name)")
      }
    }
    var status = stat()
    guard stat(folder, &status) == 0, status.st_uid == id else {
      throw ConfigurationError(
        "the data folder \(folder) does not belong to \(name): chown -R \(name) \(folder)")
    }
    // The C library changes all threads.
    guard initgroups(name, group) == 0, setgid(group) == 0, setuid(id) == 0, setuid(0) != 0 else {
      throw ConfigurationError("the server cannot change to the user \(name)")
    }
  }
}
