import Glibc
import Primitives

/// The folder with all files of the store.
///
///     richpush.db       the database, with -wal and -shm files
///     blobs/ab/abcd…    content by its SHA-256
///     renditions/ab/…   a cache that may be deleted
///     damaged/          content that a check has found to be damaged
///     tmp/              files being written
///     lock              held by the server that owns the folder
///     node              the node's id and the number of its starts
///     collection.lock   held while content is removed or copied
///     reserve           space that is kept for the database
///     objects           the URL of the object store, if that has the content
///     database          the URL of the PostgreSQL database, if the records are there
struct DataFolder: Sendable {
  /// The path, without a slash at its end.
  let path: String

  /// Opens the store in a folder: closes it to other users, and makes what is missing.
  ///
  /// With `creates`, an absent or empty folder becomes a new store. Throws `missing` if there is no store, and
  /// `conflict` for a folder that has something else; nothing in it is changed then.
  init(_ path: String, creates: Bool) throws(StoreError) {
    self.path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    try makePartsPrivate(open(creates: creates))
    for folder in [blobs, renditions, temporary] { try FileSystem.makeFolder(folder) }
    // SQLite gives its other files the database's mode. An existing database must not be opened here:
    // closing the descriptor would drop the POSIX locks that SQLite holds on it in this process.
    _ = try? StoreFile(database, O_RDWR | O_CREAT | O_EXCL)
    try DigestFolder(path: blobs, mode: Self.blobMode).makeSubfolders()
  }

  /// Refers to a folder that exists and is only read.
  init(existing path: String) { self.path = path }

  /// The mode of blobs: plugins, which may run as other users, read them through links to the file.
  ///
  /// The folders above keep everyone else out.
  static let blobMode: mode_t = 0o444

  var database: String { "\(path)/richpush.db" }
  /// In a backup: the records of a PostgreSQL database.
  var dump: String { "\(path)/richpush.dump" }
  var blobs: String { "\(path)/blobs" }
  var renditions: String { "\(path)/renditions" }
  var temporary: String { "\(path)/tmp" }
  var reserve: String { "\(path)/reserve" }

  /// Locks the folder for this process; the kernel releases the lock when the process ends (`flock`).
  func lock() throws(StoreError) -> StoreFile {
    let lock = try StoreFile("\(path)/lock", O_RDWR | O_CREAT | O_NOFOLLOW)
    guard lock.lock(LOCK_EX | LOCK_NB) else {
      throw StoreError(
        .inUse,
        "the data folder \(path) is in use by another richpush; stop it or choose another folder")
    }
    return lock
  }

  /// Runs `body` while no process removes blobs; any number may hold this lock together.
  func preventingCollection<R>(_ body: () throws -> R) throws -> R {
    let lock = try collectionLock()
    guard lock.lock(LOCK_SH) else { throw StoreError("lock", lock.path) }
    return try withExtendedLifetime(lock) { try body() }
  }

  /// The lock of the only collection; nil if another one runs or ``preventingCollection(_:)`` does.
  ///
  /// Released with the last reference.
  func lockForCollection() throws(StoreError) -> StoreFile? {
    let lock = try collectionLock()
    return lock.lock(LOCK_EX | LOCK_NB) ? lock : nil
  }

  private func collectionLock() throws(StoreError) -> StoreFile {
    try StoreFile("\(path)/collection.lock", O_RDWR | O_CREAT | O_NOFOLLOW)
  }

  /// A new path in `tmp/`.
  func temporaryPath() -> String {
    "\(temporary)/store-\(String.randomName())"
  }
}

// MARK: - Opening

extension DataFolder {
  /// Opens the folder and closes it to other users; if it is absent or empty and `creates` allows it, makes the
  /// first file of a new store.
  private func open(creates: Bool) throws(StoreError) -> StoreFile {
    if creates {
      guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
        throw StoreError("create the folder", path)
      }
    }
    let folder: StoreFile
    do throws(StoreError) { folder = try StoreFile(path, O_RDONLY | O_DIRECTORY) } catch {
      throw error.code == .missing ? isMissing : error
    }
    let content = try FolderContent(of: folder)
    try content.requireStoreOrNothing(in: path)
    if case .nothing = content, !creates { throw isMissing }
    try closeToOthers(folder)
    if case .nothing = content {
      try makeMark(in: folder)
      try? FileSystem.synchronizeParent(of: path)
    }
    return folder
  }

  /// Makes the first file of a new store.
  private func makeMark(in folder: StoreFile) throws(StoreError) {
    let flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC
    let made = openat(folder.number, StorePart.mark, flags, 0o600)
    // Another process may make a store here at the same time.
    if made < 0, errno == EEXIST {
      return try FolderContent(of: folder).requireStoreOrNothing(in: path)
    }
    guard made >= 0 else { throw StoreError("create", database) }
    close(made)
    // Another program may have begun to use the folder.
    if try folder.names().allSatisfy({ FolderContent.isOwn($0, in: folder) }) { return }
    unlinkat(folder.number, StorePart.mark, 0)
    throw FolderContent.isForeign(path)
  }

  private var isMissing: StoreError {
    StoreError(
      .missing,
      "there is no store of richpush in \(path): name its folder with --data (richpush serve and richpush "
        + "user add --data FOLDER make a new one)")
  }

  /// Closes the folder itself to other local users: it gets 0711, so that plugins with a user of their own reach
  /// their scratch folders.
  ///
  /// Throws `readOnly` if it belongs to another user, or is on a file system without modes.
  private func closeToOthers(_ folder: StoreFile) throws(StoreError) {
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
  private func makePartsPrivate(_ folder: StoreFile) throws(StoreError) {
    for name in try folder.names() {
      switch StorePart(name) {
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
    let names = try target.names().filter { !FolderContent.isLostAndFound($0, in: target) }
    guard names.isEmpty || names.contains(where: DigestFolder.isSubfolder) else {
      throw FolderContent.isForeign(folder)
    }
  }

  private static func name(of user: uid_t) -> String {
    getpwuid(user).map { String(cString: $0.pointee.pw_name) } ?? "the user \(user)"
  }
}

// MARK: - The object store

extension DataFolder {
  /// The URL of the object store that has the content; nil if this folder has it.
  var objectStore: String? {
    line(in: objectsFile)
  }

  private var objectsFile: String { "\(path)/objects" }

  /// Notes the URL of the object store.
  ///
  /// - Throws: `conflict` without a URL, if an object store has had the content: some may be only there.
  func setObjectStore(_ url: String?) throws(StoreError) {
    let known = objectStore
    guard known != url else { return }
    guard let url else { throw missingObjectStore(known ?? "") }
    try write(url, to: objectsFile)
  }

  /// For what needs the object store and was not given it.
  func missingObjectStore(_ url: String) -> StoreError {
    StoreError(
      .conflict,
      "the content of \(path) is in \(url): add --objects, or remove \(objectsFile) if all content is in "
        + blobs)
  }
}

// MARK: - The database

extension DataFolder {
  /// Notes that the records are in a PostgreSQL database, so that nobody goes on with others.
  func setDatabase(_ url: String) throws(StoreError) {
    if recordsDatabase != url { try write(url, to: databaseFile) }
  }

  /// Throws `conflict` if the records are in a PostgreSQL database.
  func requireOwnRecords() throws(StoreError) {
    guard let url = recordsDatabase else { return }
    throw StoreError(
      .conflict,
      "the records of \(path) are in \(url): add --database, or remove \(databaseFile) to use the folder "
        + "without them")
  }

  /// The URL of the database that has the records; nil if this folder has them.
  var recordsDatabase: String? { line(in: databaseFile) }

  private var databaseFile: String { "\(path)/database" }

  private func line(in path: String) -> String? {
    let text = try? StoreFile(path, O_RDONLY | O_NOFOLLOW).text(limit: 1 << 16)
    return text?.split(separator: "\n").first.map(String.init)
  }

  private func write(_ line: String, to path: String) throws(StoreError) {
    let file = try TemporaryFile(in: self)
    try Array("\(line)\n".utf8).span.bytes.withUnsafeBytes { bytes throws(StoreError) in
      try file.file.write(bytes)
    }
    try file.file.synchronize()
    try file.rename(to: path)
    try FileSystem.synchronizeParent(of: path)
  }
}

extension DataFolder {
  /// Throws if a file of a megabyte cannot be written; the reason names no path, since anybody may read it.
  func requireSpace() throws(StoreError) {
    do throws(StoreError) {
      let file = try TemporaryFile(in: self)
      let status = posix_fallocate(file.file.number, 0, 1 << 20)
      guard status == 0 else { throw StoreError(errno: status, "write", temporary) }
    } catch {
      throw StoreError(
        error.code,
        error.code == .full
          ? "the disk of the data folder is full" : "no file can be written to the data folder")
    }
  }
}
