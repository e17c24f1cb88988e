import Glibc

/// The folder that holds everything the store keeps, and the lock that makes it one server's.
struct DataFolder: Sendable {
  /// The path, without a slash at its end.
  let path: String

  /// Makes the folder and its sub-folders where they are missing.
  init(_ path: String) throws(StoreError) {
    self.path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    if mkdir(self.path, 0o700) != 0, errno != EEXIST {
      throw StoreError("make the folder", self.path)
    }
    try makePrivate()
    for folder in [blobs, renditions, temporary] { try Folder.make(folder) }
    // SQLite gives its other files the mode of the database. One that is there is not opened: with
    // its descriptor this process would close SQLite's locks on it.
    _ = try? Descriptor(database, O_RDWR | O_CREAT | O_EXCL)
    try DigestFolder(path: blobs, mode: Self.blobMode).makeFans()
  }

  /// A folder that is only read, and made by nobody.
  init(existing path: String) {
    self.path = path
  }

  /// Blobs can be read by whoever holds a link to the file.
  ///
  /// They are lent to plugins that way, which may run as other users; the folder above shuts everybody
  /// else off.
  static let blobMode: mode_t = 0o444

  var database: String { "\(path)/richpush.db" }
  var blobs: String { "\(path)/blobs" }
  var renditions: String { "\(path)/renditions" }
  var temporary: String { "\(path)/tmp" }

  /// Takes the folder for this process until the lock is released (`flock`).
  ///
  /// The kernel releases it with the process, however that ends.
  func lock() throws(StoreError) -> Descriptor {
    let lock = try Descriptor("\(path)/lock", O_RDWR | O_CREAT | O_NOFOLLOW)
    guard lock.lock(LOCK_EX | LOCK_NB) else {
      throw StoreError(
        .inUse,
        "the data folder \(path) is in use by another richpush; stop it or choose another folder")
    }
    return lock
  }

  /// Runs `body` while no process collects blobs; many may hold the collection off at once.
  func holdingOffCollection<R>(_ body: () throws -> R) throws -> R {
    let lock = try Descriptor("\(path)/collection.lock", O_RDWR | O_CREAT | O_NOFOLLOW)
    guard lock.lock(LOCK_SH) else { throw StoreError("lock", "\(path)/collection.lock") }
    return try withExtendedLifetime(lock) { try body() }
  }

  /// Runs `body` as the only collection; returns nil when one runs already or is held off.
  func collecting<R>(_ body: () throws -> R) throws -> R? {
    let lock = try Descriptor("\(path)/collection.lock", O_RDWR | O_CREAT | O_NOFOLLOW)
    guard lock.lock(LOCK_EX | LOCK_NB) else { return nil }
    return try withExtendedLifetime(lock) { try body() }
  }

  /// Removes what an earlier process left half-written.
  func sweepTemporaryFiles() {
    for name in Folder.names(in: temporary) { unlink("\(temporary)/\(name)") }
  }

  /// A path in `tmp/` that no other file has.
  func temporaryPath() -> String {
    "\(temporary)/\(String(UInt64.random(in: .min ... .max), radix: 36))"
  }
}
