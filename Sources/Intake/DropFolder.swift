import Foundation
package import Glibc
import PluginHost
package import RichPushAPI

/// The folder content teams drop files into: `<richType>/<name>`, read by descriptor only.
package struct DropFolder: Sendable {
  /// The folder's path, as the operator gave it.
  package let path: String
  /// The rich type that the folder itself holds the files of; nil when it has a folder for each.
  let only: String?
  /// What the files and folders that the server makes there deny (`umask`): people read them, so it is
  /// the operator's, not that of the data folder.
  let mask: mode_t

  /// Describes a drop folder; with `only` it holds the files of that one rich type.
  package init(path: String, only: String? = nil, mask: mode_t = 0o022) {
    (self.path, self.only, self.mask) = (path, only, mask)
  }

  /// The publish folder's name in the drop folder: files in it are sent.
  package static let publishFolderName = "outbox"

  /// The rich types that have a folder, and everything else in it, by name.
  ///
  /// - Throws: `ServiceError` 503 when the folder cannot be read.
  package func richTypes() throws(ServiceError) -> (types: [String], others: [FolderEntry]) {
    let root = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard root >= 0 else { throw Self.unreadable(path) }
    defer { close(root) }
    if let only { return ([only], []) }
    var (types, others): ([String], [FolderEntry]) = ([], [])
    for entry in try Self.entries(of: dup(root), path) where !entry.isTemporary {
      var status = Glibc.stat()
      let name = entry.spelling ?? ""
      let isFolder =
        Plugin.isValidName(name) && fstatat(root, name, &status, AT_SYMLINK_NOFOLLOW) == 0
        && status.st_mode & S_IFMT == S_IFDIR
      if isFolder, name != Self.publishFolderName { types.append(name) }
      if !isFolder { others.append(entry) }
    }
    return (types.sorted(), others)
  }

  /// The names in a rich type's folder with the stamps of their files.
  ///
  /// - Throws: `ServiceError` 404 when there is no such folder, 503 when it cannot be read.
  package func entries(_ richType: String) throws(ServiceError) -> [(
    entry: FolderEntry, stamp: String
  )] {
    let folder = try openFolder(richType)
    defer { close(folder) }
    return try Self.entries(of: dup(folder), richType).compactMap { entry in
      entry.stamp(in: folder).map { (entry, $0) }
    }
  }

  /// Opens an asset's file; `spelling` is its name on the disk where that is known.
  func open(
    _ richType: String, _ name: AssetName, spelling: String? = nil
  ) throws(ServiceError) -> AssetFile {
    let folder = try openFolder(richType)
    defer { close(folder) }
    return try AssetFile(
      folder: folder, name: spelling ?? Self.spelling(of: name, in: folder, richType))
  }

  /// The stamp of whatever has the name, also of what is no file.
  package func stamp(_ richType: String, _ name: AssetName, spelling: String?) -> String? {
    guard let folder = try? openFolder(richType) else { return nil }
    defer { close(folder) }
    let found = spelling ?? Self.spelling(of: name, in: folder, richType)
    return FolderEntry(Array(found.utf8)).stamp(in: folder)
  }

  /// The stamp of whatever the disk has under this very name; nil when there is nothing.
  package func stamp(_ richType: String, named name: String) -> String? {
    stamp(richType, FolderEntry(Array(name.utf8)))
  }

  /// The stamp of an entry; nil when it is gone.
  package func stamp(_ richType: String, _ entry: FolderEntry) -> String? {
    guard let folder = try? openFolder(richType) else { return nil }
    defer { close(folder) }
    return entry.stamp(in: folder)
  }

  /// The bytes of a small file; nil when there is none.
  ///
  /// - Throws: `ServiceError` 413 when it is too large, 503 when somebody still writes to it.
  package func read(_ richType: String, _ name: String, limit: Int) throws(ServiceError) -> [UInt8]?
  {
    let folder = try openFolder(richType)
    defer { close(folder) }
    do throws(ServiceError) {
      let file = try AssetFile(folder: folder, name: name)
      guard file.size <= limit else {
        throw ServiceError(.tooLarge, "\(name.quoted) is larger than \(limit) bytes.")
      }
      guard !file.isBeingWritten(closed: true) else { throw .incompleteFile }
      return file.prefix(limit)
    } catch {
      if error.code == .notFound { return nil }
      throw error
    }
  }

  /// How the disk spells a name: macOS stores the decomposed form of what it is given.
  static func spelling(of name: AssetName, in folder: Int32, _ path: String) -> String {
    let isASCII = name.value.utf8.allSatisfy { $0 < 0x80 }
    if isASCII || faccessat(folder, name.value, F_OK, AT_SYMLINK_NOFOLLOW) == 0 {
      return name.value
    }
    let entries = (try? Self.entries(of: dup(folder), path)) ?? []
    return entries.first { $0.name == name }?.spelling ?? name.value
  }

  /// A descriptor of the rich type's folder.
  ///
  /// - Throws: `ServiceError` 404 when there is no such folder, 503 when it cannot be read.
  func openFolder(_ richType: String) throws(ServiceError) -> Int32 {
    let isWhole = only != nil && only == richType
    guard isWhole || Plugin.isValidName(richType) else { throw Self.missing(richType) }
    let folder = Glibc.open(
      isWhole ? path : path + "/" + richType,
      O_RDONLY | O_DIRECTORY | O_CLOEXEC | (isWhole ? 0 : O_NOFOLLOW))
    if folder >= 0 { return folder }
    let isMissing = !isWhole && [ENOENT, ELOOP, ENOTDIR].contains(errno)
    guard isMissing else { throw Self.unreadable(isWhole ? path : richType) }
    // Or is the drop folder itself missing?
    let root = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard root >= 0 else { throw Self.unreadable(path) }
    close(root)
    throw Self.missing(richType)
  }

  private static func missing(_ richType: String) -> ServiceError {
    ServiceError(.notFound, "There is no folder \(richType.quoted) for assets.")
  }

  private static func unreadable(_ path: String) -> ServiceError {
    let reason = String(cString: strerror(errno))
    return ServiceError(
      .unavailable, "The folder \(path) cannot be read: \(reason).", retryAfter: 5)
  }

  /// The names in an open folder, which is closed with that.
  private static func entries(
    of descriptor: Int32, _ path: String
  ) throws(ServiceError) -> [FolderEntry] {
    guard descriptor >= 0, let folder = fdopendir(descriptor) else {
      close(descriptor)
      throw unreadable(path)
    }
    defer { closedir(folder) }
    rewinddir(folder)
    var entries: [FolderEntry] = []
    while true {
      errno = 0
      guard let entry = readdir(folder) else { break }
      let name = withUnsafeBytes(of: entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
      if name != [0x2E], name != [0x2E, 0x2E] { entries.append(FolderEntry(name)) }
    }
    guard errno == 0 else { throw unreadable(path) }
    return entries
  }
}
