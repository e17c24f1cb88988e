import Glibc
import Primitives
import S3

/// What a backup does not contain.
package struct BackupReport: Sendable, Equatable {
  /// The number of blobs that are only in the object store.
  package let blobs: Int
  /// The object store; nil if there is none.
  package let objects: String?
  /// The number of blobs to which records refer, and which are not stored anywhere.
  package var missing = 0
}

/// What a restored folder does not contain.
package struct RestoreReport: Sendable, Equatable {
  /// The file with the records if they are for a PostgreSQL database.
  package let dump: String?
  /// The number of blobs to which records refer, and which the backup does not have.
  package let missing: Int
}

extension Store {
  /// Copies everything but the renditions into a new folder, as of one moment, while the store is in use.
  ///
  /// `path` must not exist or be an empty folder. It is a data folder once the copy is complete and durable. Content
  /// on the same file system is linked and takes no further space. Of what the object store has, nothing is copied.
  ///
  /// The records of a PostgreSQL database are in the folder's file `richpush.dump`, which `dump` lets be written.
  /// `progress` is called with the number of blobs that are copied.
  @discardableResult
  package func backup(
    to path: String, dump: @escaping @Sendable (DatabaseDump) throws -> Void = { _ in },
    progress: @escaping @Sendable (_ blobs: Int, _ total: Int) -> Void = { _, _ in }
  ) async throws -> BackupReport {
    if objects == nil, let url = folder.objectStore { throw folder.missingObjectStore(url) }
    let remote = try await objectsInStore()
    return try await upkeep.run { [self] in
      try folder.preventingCollection {
        var (left, missing) = (0, 0)
        try Backup.build(path) { target in
          let blobs = try tables.copy(to: target, dump)
          (left, missing) = try Backup.copyBlobs(
            blobs, from: folder, to: target, except: remote, verifying: false, progress)
          try target.setObjectStore(objects?.url)
        }
        return BackupReport(blobs: left, objects: objects?.url, missing: missing)
      }
    }
  }

  /// The digests and sizes of the blobs in the object store.
  private func objectsInStore() async throws -> [Digest: Int] {
    guard let objects else { return [:] }
    var found: [Digest: Int] = [:]
    for prefix in Self.objectPrefixes {
      for object in try await objects.list("blobs/\(prefix)/") {
        guard let digest = Digest(hex: object.key.suffix(64)) else { continue }
        found[digest] = object.size
      }
    }
    return found
  }

  /// Makes a data folder from a backup; `path` must not exist or be an empty folder.
  ///
  /// Compares all content with its digests before the folder is a store.
  @discardableResult
  package static func restore(from backup: String, to path: String) throws -> RestoreReport {
    let source = DataFolder(existing: backup)
    let isDump = stat(ofFile: source.dump) != nil
    switch try FolderContent(of: backup) {
    case .store: break
    case .somethingElse where isDump: break
    default: throw StoreError(.missing, "there is no complete backup of richpush in \(backup)")
    }
    var missing = 0
    if !isDump { try source.requireOwnRecords() }
    try Backup.build(path) { target in
      var blobs: [Digest] = []
      if isDump {
        DigestFolder(path: source.blobs, mode: nil).forEachFile { file in
          Digest(hex: file.name).map { blobs.append($0) }
        }
        try source.recordsDatabase.map(target.setDatabase)
      } else {
        blobs = try SQLiteTables.copy(source.database, to: target.database)
      }
      let lost = try Backup.copyBlobs(
        blobs, from: source, to: target, except: [:], verifying: true, { _, _ in }
      ).missing
      // What the object store has, is in no backup.
      missing = source.objectStore == nil ? lost : 0
      try target.setObjectStore(source.objectStore)
    }
    return RestoreReport(dump: isDump ? source.dump : nil, missing: missing)
  }
}

/// The steps that backing up and restoring share.
private enum Backup {
  /// Fills a folder in `path`, and moves what is in it to `path` once it is complete and durable.
  ///
  /// In `path`, because there may be nothing that may be written to beside it, such as beside the root of a disk.
  static func build(_ path: String, _ fill: (DataFolder) throws -> Void) throws {
    let isNew = mkdir(path, 0o700) == 0
    guard isNew || errno == EEXIST else { throw StoreError("create the folder", path) }
    let folder = try StoreFile(path, O_RDONLY | O_DIRECTORY)
    // Released with the descriptor.
    guard folder.lock(LOCK_EX | LOCK_NB) else {
      throw StoreError(.inUse, "another richpush makes a backup or a store in \(path)")
    }
    try DataFolder(existing: path).requireOwner(of: folder)
    if case .unfinishedCopy = try FolderContent(of: folder),
      try folder.names().allSatisfy({ FolderContent.isOwn($0, in: folder) })
    {
      removeCopy(in: path)
    }
    guard case .nothing = try FolderContent(of: folder) else {
      throw StoreError(.conflict, "\(path) is not empty; name a folder that is, or does not exist")
    }
    do {
      let unfinished = "\(path)/\(StorePart.unfinishedCopy)"
      guard mkdir(unfinished, 0o700) == 0 else { throw StoreError("create the folder", unfinished) }
      try fill(DataFolder(unfinished, creates: true))
      try StoreFile(unfinished, O_RDONLY | O_DIRECTORY).synchronizeFileSystem()
      try folder.setMode(0o711)
      try moveCopy(unfinished, to: folder)
    } catch {
      removeCopy(in: path)
      if isNew { rmdir(path) }
      throw error
    }
    if isNew { try FileSystem.synchronizeParent(of: path) }
  }

  /// Moves all that is in a folder to the one that it is in.
  private static func moveCopy(_ copy: String, to folder: StoreFile) throws(StoreError) {
    let source = try StoreFile(copy, O_RDONLY | O_DIRECTORY)
    // What makes a folder a store comes last.
    let names = try source.names().filter { !StorePart.marks.contains($0) }
    for name in names + StorePart.marks where stat(ofLink: "\(copy)/\(name)") != nil {
      if name == StorePart.mark { try folder.synchronize() }
      guard renameat(source.number, name, folder.number, name) == 0 else {
        throw StoreError("move from \(copy) to", folder.path)
      }
    }
    rmdir(copy)
    try folder.synchronize()
  }

  /// Removes what an interrupted copy has left in a folder.
  private static func removeCopy(in path: String) {
    let copy = "\(path)/\(StorePart.unfinishedCopy)"
    StorePart.removeAll(in: copy)
    rmdir(copy)
    StorePart.removeAll(in: path)
  }

  /// Copies blobs, except the ones in the object store; returns how many these are, and how many are in neither place.
  static func copyBlobs(
    _ blobs: [Digest], from source: DataFolder, to target: DataFolder, except remote: [Digest: Int],
    verifying: Bool, _ progress: (_ blobs: Int, _ total: Int) -> Void
  ) throws -> (left: Int, missing: Int) {
    var (left, missing) = (0, 0)
    let (from, to) = (
      DigestFolder(path: source.blobs, mode: DataFolder.blobMode),
      DigestFolder(path: target.blobs, mode: DataFolder.blobMode)
    )
    for (index, digest) in blobs.enumerated() {
      if index.isMultiple(of: 100) { progress(index, blobs.count) }
      let size = stat(ofFile: from.path(of: digest)).map { Int($0.st_size) }
      if let known = remote[digest], size == nil || size == known {
        left += 1
        continue
      }
      guard access(from.path(of: digest), R_OK) == 0 else {
        guard errno == ENOENT else { throw StoreError("read", from.path(of: digest)) }
        missing += 1
        continue
      }
      if verifying, try Digest(ofFile: from.path(of: digest)) != digest {
        throw StoreError(.damaged, "\(from.path(of: digest)) is damaged; use another backup")
      }
      try copy(from.path(of: digest), to: to.path(of: digest))
    }
    return (left, missing)
  }

  /// Links a blob, which never changes, or copies it if that is not possible.
  private static func copy(_ source: String, to target: String) throws(StoreError) {
    try FileSystem.makeParent(of: target)
    if link(source, target) == 0 { return }
    let copy = try StoreFile(target, O_WRONLY | O_CREAT | O_EXCL, mode: DataFolder.blobMode)
    try StoreFile(source, O_RDONLY | O_NOFOLLOW).forEachChunk { chunk throws(StoreError) in
      try copy.write(chunk)
    }
  }
}
