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
///     objects           the URL of the object store, if that has the content
///     database          the URL of the PostgreSQL database, if the records were moved there
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
    "\(temporary)/store-\(String(UInt64.random(in: .min ... .max), radix: 36))"
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
  /// Notes that the records were moved to a PostgreSQL database, so that nobody goes on with the former ones.
  func setDatabase(_ url: String) throws(StoreError) { try write(url, to: databaseFile) }

  /// Throws `conflict` if the records were moved.
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
  func requireRoom() throws(StoreError) {
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
