import Glibc
import Primitives

// A folder is a store if it has our database or our file `node`. A new one is made only of a folder that is absent
// or empty, and its first file is the empty database: whenever the process that makes it is killed, what it leaves
// is empty or a store.
extension DataFolder {
  /// What is in a folder.
  enum Content {
    /// Nothing but the `lost+found` of a disk.
    case nothing
    /// A store, also one that is not complete.
    case store
    /// A backup or a restored store that is not complete.
    case unfinishedCopy
    case somethingElse
  }

  /// What is in an open folder.
  static func content(of folder: StoreFile) throws(StoreError) -> Content {
    if isStore(folder) { return .store }
    let names = try folder.names().filter { !isLostAndFound($0, in: folder) }
    if names.contains(unfinishedCopy) { return .unfinishedCopy }
    return names.isEmpty ? .nothing : .somethingElse
  }

  /// Whether there is a store in a folder; false also if this user cannot read the folder.
  static func isStore(_ path: String) -> Bool {
    (try? StoreFile(path, O_RDONLY | O_DIRECTORY)).map(isStore) ?? false
  }

  /// Whether a folder has a store or a backup that is complete; `isDump` tells of one with records of PostgreSQL.
  static func isComplete(_ path: String, isDump: Bool) throws(StoreError) -> Bool {
    switch try content(of: StoreFile(path, O_RDONLY | O_DIRECTORY)) {
    case .store: true
    case .somethingElse: isDump
    case .nothing, .unfinishedCopy: false
    }
  }

  /// Whether richpush has made an entry of a folder that is its own, or the file system has.
  static func isPart(_ name: String, of folder: StoreFile) -> Bool {
    part(name) != nil || name == unfinishedCopy || isLostAndFound(name, in: folder)
  }

  /// Throws `conflict` unless a store is in a folder or could be made there; changes nothing.
  static func requireRoom(in path: String) throws(StoreError) {
    guard stat(ofLink: path) != nil else { return }
    let folder = try StoreFile(path, O_RDONLY | O_DIRECTORY)
    try requireNothingElse(try content(of: folder), in: path)
  }

  private static func requireNothingElse(
    _ content: Content, in path: String
  ) throws(StoreError) {
    switch content {
    case .nothing, .store: break
    case .unfinishedCopy:
      throw StoreError(
        .conflict,
        "\(path) has an unfinished backup or restore, \(unfinishedCopy): repeat the command that makes it, or "
          + "remove the folder")
    case .somethingElse: throw isForeign(path)
    }
  }

  /// Opens the folder and closes it to other users; if it is absent or empty and `creates` allows it, makes the
  /// first file of a new store.
  func open(creates: Bool) throws(StoreError) -> StoreFile {
    if creates {
      guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
        throw StoreError("create the folder", path)
      }
    }
    let folder: StoreFile
    do throws(StoreError) { folder = try StoreFile(path, O_RDONLY | O_DIRECTORY) } catch {
      throw error.code == .missing ? isMissing : error
    }
    let content = try Self.content(of: folder)
    try Self.requireNothingElse(content, in: path)
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
    let made = openat(folder.number, Self.mark, flags, 0o600)
    // Another process may make a store here at the same time.
    if made < 0, errno == EEXIST {
      return try Self.requireNothingElse(try Self.content(of: folder), in: path)
    }
    guard made >= 0 else { throw StoreError("create", database) }
    close(made)
    // Another program may have begun to use the folder.
    if try folder.names().allSatisfy({ Self.isPart($0, of: folder) }) { return }
    unlinkat(folder.number, Self.mark, 0)
    throw Self.isForeign(path)
  }

  private var isMissing: StoreError {
    StoreError(
      .missing,
      "there is no store of richpush in \(path): name its folder with --data (richpush serve and richpush "
        + "user add --data FOLDER make a new one)")
  }

  static func isForeign(_ path: String) -> StoreError {
    StoreError(
      .conflict,
      "\(path) is not empty and no store of richpush; nothing in it was changed. Name a folder that is empty or "
        + "does not exist")
  }
}

// MARK: - Marks

extension DataFolder {
  private static func isStore(_ folder: StoreFile) -> Bool {
    if text(of: "node", in: folder).map(NodeStart.isFile) == true { return true }
    return isDatabase(mark, in: folder) || isOfPostgres(folder)
  }

  /// Whether the folder's records are in PostgreSQL, and all else is there: as an earlier version restored it.
  private static func isOfPostgres(_ folder: StoreFile) -> Bool {
    let url = text(of: "database", in: folder) ?? ""
    guard url.hasPrefix("postgres://") || url.hasPrefix("postgresql://") else { return false }
    return ["blobs", "renditions", "tmp"].allSatisfy { name in
      var status = stat()
      return fstatat(folder.number, name, &status, 0) == 0 && status.fileType == S_IFDIR
    }
  }

  /// Whether a file is a SQLite database or, in a store whose making was interrupted, empty.
  private static func isDatabase(_ name: String, in folder: StoreFile) -> Bool {
    var status = stat()
    guard fstatat(folder.number, name, &status, 0) == 0, status.fileType == S_IFREG else {
      return false
    }
    if status.st_size == 0 { return true }
    // The owner reads it. This is reached only without the file `node`, by a process that has not opened the
    // database yet: closing the descriptor would drop its locks.
    let descriptor = openat(folder.number, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard let file = FileDescriptor(owning: descriptor) else { return errno == EACCES }
    return (try? file.readAll(limit: 16)) == Array("SQLite format 3\0".utf8)
  }

  /// The beginning of a regular file; nil if there is none.
  private static func text(of name: String, in folder: StoreFile) -> String? {
    let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
    guard let file = FileDescriptor(owning: openat(folder.number, name, flags)),
      let status = try? file.status(), status.fileType == S_IFREG,
      let bytes = try? file.readAll(limit: 1024)
    else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }

  static func isLostAndFound(_ name: String, in folder: StoreFile) -> Bool {
    var status = stat()
    return name == "lost+found" && fstatat(folder.number, name, &status, AT_SYMLINK_NOFOLLOW) == 0
      && status.fileType == S_IFDIR
  }
}
