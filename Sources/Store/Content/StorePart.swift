import Glibc
import Primitives

/// What a name in a data folder or a backup stands for.
///
/// The rule: richpush changes the mode or the owner of nothing, and removes nothing, that it has not made. What it
/// makes in a data folder or a backup, it knows by these names.
enum StorePart {
  /// A file of the store, 0600.
  case file
  /// A folder of the store, 0700.
  case folder
  /// Made by the server with a mode of its own: the folder of the plugins' processes, and the socket.
  case other

  /// The file that makes a folder a store: it is made before everything else in a new one.
  static let mark = "richpush.db"
  /// All that a store is recognised by; the first file of a new one is the last.
  static let marks = ["database", mark]
  /// In the target of a backup or of a restore: the copy, until it is complete.
  static let unfinishedCopy = "richpush.unfinished"

  private static let files: Set = [
    mark, "richpush.db-wal", "richpush.db-shm", "richpush.db-journal", "richpush.dump", "lock",
    "node", "settings", "collection.lock", "objects", "database", "reserve",
  ]
  private static let folders: Set = ["blobs", "renditions", "tmp", "damaged"]

  /// What richpush makes under a name; nil for a name that it never uses.
  init?(_ name: String) {
    if Self.files.contains(name) || name.hasPrefix("\(Self.mark).before") {
      self = .file
    } else if Self.folders.contains(name) {
      self = .folder
    } else if ["scratch", "control"].contains(name) {
      self = .other
    } else {
      return nil
    }
  }

  /// Whether a name in `tmp/` is one that this program or an earlier version made: `store-…` here, `upload-…` for
  /// a request's body, `answer-…` for a plugin's response; earlier only the digits and letters.
  private static func isTemporary(_ name: String) -> Bool {
    for prefix in ["store-", "upload-", "answer-"] where name.hasPrefix(prefix) {
      return isBase36(name.dropFirst(prefix.count))
    }
    return name.utf8.count >= 10 && isBase36(name[...])
  }

  private static func isBase36(_ text: Substring) -> Bool {
    (1...20).contains(text.utf8.count)
      && text.utf8.allSatisfy { (48...57).contains($0) || (97...122).contains($0) }
  }
}

// MARK: - Removing

extension StorePart {
  /// Removes the unfinished files of earlier processes from `tmp/`.
  static func removeTemporaryFiles(in folder: String) {
    for name in FolderListing.texts(in: folder) where isTemporary(name) {
      let path = "\(folder)/\(name)"
      guard let status = stat(ofLink: path), status.fileType == S_IFREG, status.st_uid == geteuid()
      else { continue }
      unlink(path)
    }
  }

  /// Removes what a store consists of from a folder, and nothing else.
  static func removeAll(in path: String) {
    for name in FolderListing.texts(in: path) {
      let entry = "\(path)/\(name)"
      guard let status = stat(ofLink: entry) else { continue }
      switch StorePart(name) {
      case .file where status.fileType == S_IFREG: unlink(entry)
      case .folder where status.fileType == S_IFDIR: removeFolder(entry)
      default: break
      }
    }
  }

  private static func removeFolder(_ folder: String) {
    removeTemporaryFiles(in: folder)
    for subfolder in DigestFolder(path: folder, mode: nil).ownSubfolders {
      for name in FolderListing.texts(in: subfolder) where DigestFolder.isFile(name) {
        unlink("\(subfolder)/\(name)")
      }
      rmdir(subfolder)
    }
    rmdir(folder)
  }
}
