import Glibc
import Primitives

/// What is in a folder that is a store, or is to become one.
///
/// A folder is a store if it has our database or our file `node`. A new one is made only of a folder that is absent
/// or empty, and its first file is the empty database: whenever the process that makes it is killed, what it leaves
/// is empty or a store.
enum FolderContent {
  /// Nothing but the `lost+found` of a disk.
  case nothing
  /// A store, also one that is not complete.
  case store
  /// A backup or a restored store that is not complete.
  case unfinishedCopy
  case somethingElse

  /// What is in an open folder.
  init(of folder: StoreFile) throws(StoreError) {
    if Self.isStore(folder) {
      self = .store
    } else {
      let names = try folder.names().filter { !Self.isLostAndFound($0, in: folder) }
      self =
        if names.contains(StorePart.unfinishedCopy) {
          .unfinishedCopy
        } else {
          names.isEmpty ? .nothing : .somethingElse
        }
    }
  }

  /// What is in a folder.
  init(of path: String) throws(StoreError) {
    try self.init(of: StoreFile(path, O_RDONLY | O_DIRECTORY))
  }

  /// Whether richpush has made an entry of a folder that is its own, or the file system has.
  static func isOwn(_ name: String, in folder: StoreFile) -> Bool {
    StorePart(name) != nil || name == StorePart.unfinishedCopy || isLostAndFound(name, in: folder)
  }

  static func isLostAndFound(_ name: String, in folder: StoreFile) -> Bool {
    var status = stat()
    return name == "lost+found" && fstatat(folder.number, name, &status, AT_SYMLINK_NOFOLLOW) == 0
      && status.fileType == S_IFDIR
  }

  /// Throws `conflict` unless it is a store or could become one; `path` is the folder's.
  func requireStoreOrNothing(in path: String) throws(StoreError) {
    switch self {
    case .nothing, .store: break
    case .unfinishedCopy:
      throw StoreError(
        .conflict,
        "\(path) has an unfinished backup or restore, \(StorePart.unfinishedCopy): repeat the command that makes "
          + "it, or remove the folder")
    case .somethingElse: throw Self.isForeign(path)
    }
  }

  /// For a folder that has something else.
  static func isForeign(_ path: String) -> StoreError {
    StoreError(
      .conflict,
      "\(path) is not empty and no store of richpush; nothing in it was changed. Name a folder that is empty or "
        + "does not exist")
  }
}

// MARK: - Marks

extension FolderContent {
  private static func isStore(_ folder: StoreFile) -> Bool {
    if text(of: "node", in: folder).map(NodeStart.isFile) == true { return true }
    return isDatabase(StorePart.mark, in: folder) || isOfPostgres(folder)
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
}
