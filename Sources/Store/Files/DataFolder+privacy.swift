import Glibc

extension DataFolder {
  /// Shuts other local users out of the folder, also when an earlier version let them read it.
  ///
  /// The folder itself is 0711, so that plugins with a user of their own reach their scratch folders.
  /// Each folder in it becomes 0700, which shuts off all that is below whatever its mode, and each
  /// file 0600. Blobs and renditions get their own modes as the collection comes by them.
  ///
  /// Throws when that cannot be done: when the folder, or a part of the store in it, is another
  /// user's, or on a file system that knows no modes.
  func makePrivate() throws(StoreError) {
    let folder = try Descriptor(path, O_RDONLY | O_DIRECTORY)
    var status = try folder.status()
    guard status.st_uid == geteuid() else {
      throw StoreError(
        .readOnly,
        "the data folder \(path) belongs to \(Self.name(of: status.st_uid)), and this runs as "
          + "\(Self.name(of: geteuid())); run it as that user, or give it the folder (chown -R)")
    }
    if status.permissions != 0o711 {
      _ = fchmod(folder.number, 0o711)
      status = try folder.status()
    }
    guard status.permissions & 0o022 == 0 else {
      throw StoreError(
        .readOnly,
        "other users may write to the data folder \(path), and its mode cannot be changed; "
          + "put it on a file system with owners and modes")
    }
    for name in Folder.names(in: path) where name != "scratch" { try makePrivate(name) }
  }

  /// What other users must not have put there when they still could.
  private static let parts: Set = [
    "blobs", "renditions", "tmp", "richpush.db", "richpush.db-wal", "richpush.db-shm",
    "richpush.db-journal", "lock", "collection.lock",
  ]

  private func makePrivate(_ name: String) throws(StoreError) {
    let entry = "\(path)/\(name)"
    var status = stat()
    guard lstat(entry, &status) == 0 else { return }
    let isOwn = status.st_uid == geteuid()
    // A folder may be a link to another disk, if its owner is one who may put it there.
    if status.st_mode & S_IFMT == S_IFLNK, isOwn || status.st_uid == 0 {
      guard Self.parts.contains(name), stat(entry, &status) == 0 else { return }
    }
    let isFolder = status.st_mode & S_IFMT == S_IFDIR
    guard status.st_uid == geteuid(), isFolder || status.st_mode & S_IFMT == S_IFREG else {
      // Such as the lost+found of a disk.
      guard Self.parts.contains(name) else { return }
      throw StoreError(
        .readOnly,
        "\(entry) belongs to \(Self.name(of: status.st_uid)), or is no file and no folder; "
          + "give it to \(Self.name(of: geteuid())) (chown), or remove it")
    }
    let mode: mode_t = isFolder ? 0o700 : 0o600
    guard status.permissions != mode, chmod(entry, mode) != 0, errno != ENOENT else { return }
    throw StoreError("change the mode of", entry)
  }

  private static func name(of user: uid_t) -> String {
    getpwuid(user).map { String(cString: $0.pointee.pw_name) } ?? "the user \(user)"
  }
}

extension stat {
  /// The bits that chmod(2) sets.
  var permissions: mode_t { st_mode & 0o7777 }
}
