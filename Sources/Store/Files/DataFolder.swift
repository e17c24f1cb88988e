import Glibc

/// The folder that holds everything the store keeps, and the lock that makes it one server's.
struct DataFolder: Sendable {
  /// The path, without a slash at its end.
  let path: String

  /// Makes the folder and its sub-folders where they are missing.
  init(_ path: String) throws(StoreError) {
    self.path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    for folder in [self.path, blobs, renditions, temporary] {
      if mkdir(folder, 0o755) != 0, errno != EEXIST { throw StoreError("make the folder", folder) }
    }
  }

  var database: String { "\(path)/richpush.db" }
  var blobs: String { "\(path)/blobs" }
  var renditions: String { "\(path)/renditions" }
  var temporary: String { "\(path)/tmp" }

  /// Takes the folder for this process until the lock is released (`flock`).
  ///
  /// The kernel releases it with the process, however that ends.
  func lock() throws(StoreError) -> Descriptor {
    let lock = try Descriptor("\(path)/lock", O_RDWR | O_CREAT)
    guard flock(lock.number, LOCK_EX | LOCK_NB) == 0 else {
      throw StoreError(
        .inUse,
        "the data folder \(path) is in use by another richpush; stop it or choose another folder")
    }
    return lock
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
