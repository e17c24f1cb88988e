import Glibc
import Media
import Primitives

/// The unprivileged user that a server started by root runs as.
package struct ServerUser: Sendable {
  let name: String
  let id: uid_t
  let group: gid_t

  /// Looks the user up.
  ///
  /// - Throws: `OperatorError` if there is no such user, or the process does not run as root.
  package init(_ name: String) throws {
    guard geteuid() == 0 else {
      throw OperatorError("--user only works if root starts the server")
    }
    guard let entry = getpwnam(name)?.pointee, entry.pw_uid != 0 else {
      throw OperatorError("--user must be an existing user other than root, not \(name)")
    }
    (self.name, id, group) = (name, entry.pw_uid, entry.pw_gid)
  }

  /// Makes the user the owner of a new file or folder.
  package func own(_ path: String) { lchown(path, id, group) }

  /// Changes a process of root to the owner of a data folder permanently; otherwise it could create files
  /// there that the server cannot open.
  ///
  /// Changes nothing for another user, and if there is no folder or it is root's own.
  ///
  /// - Throws: `OperatorError` if the change fails.
  package static func becomeOwner(of folder: String) throws {
    var status = stat()
    guard geteuid() == 0, stat(folder, &status) == 0, status.st_uid != 0 else { return }
    let entry = getpwuid(status.st_uid)?.pointee
    let group = entry?.pw_gid ?? status.st_gid
    // A user without an entry has no further groups.
    let hasGroups = entry.map { initgroups($0.pw_name, group) } ?? setgroups(1, [group])
    guard hasGroups == 0, setgid(group) == 0, setuid(status.st_uid) == 0, setuid(0) != 0 else {
      throw OperatorError("cannot change to the owner of the data folder \(folder)")
    }
  }

  /// Changes this process to the user permanently.
  ///
  /// - Parameter folder: The data folder, which must belong to the user; created if it is missing.
  /// - Throws: `OperatorError` if the folder belongs to another user, or the change fails.
  func become(ownerOf folder: String) throws {
    if access(folder, F_OK) != 0 { make(folder) }
    var status = stat()
    guard stat(folder, &status) == 0, status.st_uid == id else {
      throw OperatorError(
        "the data folder \(folder) does not belong to \(name): chown -R \(name) \(folder)")
    }
    // The C library changes all threads.
    guard initgroups(name, group) == 0, setgid(group) == 0, setuid(id) == 0, setuid(0) != 0 else {
      throw OperatorError("the server cannot change to the user \(name)")
    }
  }

  /// Creates an absent folder that is the user's from the moment when it has its name: one that is left by a
  /// process that was killed can be used.
  private func make(_ folder: String) {
    let path = folder.count > 1 && folder.hasSuffix("/") ? String(folder.dropLast()) : folder
    let new = "\(path).new-\(String.randomName())"
    guard mkdir(new, 0o700) == 0 else { return }
    // By descriptor: the folder could be replaced by a link meanwhile.
    let created = open(new, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    defer { close(created) }
    // Fails if there is something at the path by now, unless it is an empty folder.
    if fchown(created, id, group) != 0 || rename(new, path) != 0 { rmdir(new) }
  }
}
