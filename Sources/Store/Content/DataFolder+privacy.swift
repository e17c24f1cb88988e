import Glibc
import Primitives

extension DataFolder {
  /// Closes the folder itself to other local users: it gets 0711, so that plugins with a user of their own reach
  /// their scratch folders.
  ///
  /// Throws `readOnly` if it belongs to another user, or is on a file system without modes.
  func closeToOthers(_ folder: StoreFile) throws(StoreError) {
    try requireOwner(of: folder)
    if try folder.status().permissions != 0o711 { try? folder.setMode(0o711) }
    guard try folder.status().permissions & 0o022 == 0 else {
      throw StoreError(
        .readOnly,
        "other users may write to the data folder \(path), and its mode cannot be changed; "
          + "put it on a file system with owners and modes")
    }
  }

  /// Closes what richpush has made in the folder to other local users, also if an earlier version let them read it.
  ///
  /// Each of the store's folders in it gets 0700, which protects everything below, and each of its files 0600.
  /// Blobs and renditions are corrected by `DigestFolder.forEachFile`.
  ///
  /// Throws `readOnly` if a part of the store belongs to another user or is open to others through a link.
  func makePartsPrivate(_ folder: StoreFile) throws(StoreError) {
    for name in try folder.names() {
      switch Self.part(name) {
      case .file: try makePrivate(name, S_IFREG, 0o600, in: folder)
      case .folder: try makePrivate(name, S_IFDIR, 0o700, in: folder)
      case .other, nil: break
      }
    }
  }

  /// Throws `readOnly` if the folder is another user's.
  func requireOwner(of folder: StoreFile) throws(StoreError) {
    let owner = try folder.status().st_uid
    guard owner == geteuid() else {
      throw StoreError(
        .readOnly,
        "the data folder \(path) belongs to \(Self.name(of: owner)), but richpush runs as "
          + "\(Self.name(of: geteuid())); run it as the owner, or change the owner (chown -R)")
    }
  }

  private func makePrivate(
    _ name: String, _ type: mode_t, _ mode: mode_t, in folder: StoreFile
  ) throws(StoreError) {
    let entry = "\(path)/\(name)"
    guard var status = stat(ofLink: entry) else { return }
    // A part may be a link to another disk, if its owner is allowed to put it there. What the link leads to is
    // not changed.
    let isLink = status.fileType == S_IFLNK && [geteuid(), 0].contains(status.st_uid)
    if isLink, let target = stat(ofFile: entry) { status = target }
    guard status.st_uid == geteuid(), status.fileType == type else {
      let kind = type == S_IFDIR ? "folder" : "file"
      throw StoreError(
        .readOnly,
        "\(entry) belongs to \(Self.name(of: status.st_uid)), or is no \(kind); "
          + "change its owner to \(Self.name(of: geteuid())) (chown), or remove it")
    }
    if isLink {
      guard status.permissions & 0o077 == 0 else {
        throw StoreError(
          .readOnly,
          "other users can reach what the link \(entry) leads to; close it to them: "
            + "chmod go= \(entry)")
      }
      return try requireOwnContent(of: name, in: entry)
    }
    guard status.permissions != mode else { return }
    // By name, not by a descriptor: see the database in `init`.
    if fchmodat(folder.number, name, mode, AT_SYMLINK_NOFOLLOW) == 0 || errno == ENOENT { return }
    throw StoreError("change the mode of", entry)
  }

  /// Throws `conflict` if a folder that a link leads to is not empty and has nothing of the store's.
  private func requireOwnContent(of name: String, in folder: String) throws(StoreError) {
    guard ["blobs", "renditions"].contains(name) else { return }
    let target = try StoreFile(folder, O_RDONLY | O_DIRECTORY)
    let names = try target.names().filter { !Self.isLostAndFound($0, in: target) }
    guard names.isEmpty || names.contains(where: DigestFolder.isSubfolder) else {
      throw Self.isForeign(folder)
    }
  }

  private static func name(of user: uid_t) -> String {
    getpwuid(user).map { String(cString: $0.pointee.pw_name) } ?? "the user \(user)"
  }
}
