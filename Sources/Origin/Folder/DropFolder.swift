import Foundation
import Glibc
import PluginHost

/// The folder content teams drop files into: `<richType>/<name>`, read by descriptor only.
package struct DropFolder: Sendable {
  /// The folder's path, as the operator gave it.
  package let path: String
  /// The rich type that the folder itself holds the files of; nil when it has a folder for each.
  var only: String?
  /// What the files and folders that the server makes there deny (`umask`): people read them, so it is
  /// the operator's, not that of the data folder.
  var mask: mode_t = 0o022

  /// The folder in the drop folder that is no rich type's: what lies in it is published.
  static let outbox = "outbox"

  /// The rich types that have a folder, and what else lies there, by name.
  ///
  /// - Throws: `Refusal` 503 when the folder cannot be read.
  func richTypes() throws(Refusal) -> (types: [String], others: [FolderEntry]) {
    let root = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard root >= 0 else { throw Self.unreadable(path) }
    defer { close(root) }
    if let only { return ([only], []) }
    var (types, others): ([String], [FolderEntry]) = ([], [])
    for entry in try Self.entries(of: dup(root), path) where !entry.isTemporary {
      var status = Glibc.stat()
      let name = entry.spelling ?? ""
      let isFolder =
        Plugin.isName(name) && fstatat(root, name, &status, AT_SYMLINK_NOFOLLOW) == 0
        && status.st_mode & S_IFMT == S_IFDIR
      if isFolder, name != Self.outbox { types.append(name) }
      if !isFolder { others.append(entry) }
    }
    return (types.sorted(), others)
  }

  /// The names in a rich type's folder with the stamps of their files.
  ///
  /// - Throws: `Refusal` 404 when there is no such folder, 503 when it cannot be read.
  func entries(_ richType: String) throws(Refusal) -> [(entry: FolderEntry, stamp: String)] {
    let folder = try openFolder(richType)
    defer { close(folder) }
    return try Self.entries(of: dup(folder), richType).compactMap { entry in
      entry.stamp(in: folder).map { (entry, $0) }
    }
  }

  /// Opens an asset's file; `spelling` is its name on the disk where that is known.
  func open(
    _ richType: String, _ name: AssetName, spelling: String? = nil
  ) throws(Refusal) -> AssetFile {
    let folder = try openFolder(richType)
    defer { close(folder) }
    return try AssetFile(
      folder: folder, name: spelling ?? Self.spelling(of: name, in: folder, richType))
  }

  /// The stamp of whatever has the name, also of what is no file.
  func stamp(_ richType: String, _ name: AssetName, spelling: String?) -> String? {
    guard let folder = try? openFolder(richType) else { return nil }
    defer { close(folder) }
    let found = spelling ?? Self.spelling(of: name, in: folder, richType)
    return FolderEntry(Array(found.utf8)).stamp(in: folder)
  }

  /// The stamp of whatever the disk has under this very name; nil when there is nothing.
  func stamp(_ richType: String, named name: String) -> String? {
    guard let folder = try? openFolder(richType) else { return nil }
    defer { close(folder) }
    return FolderEntry(Array(name.utf8)).stamp(in: folder)
  }

  /// The bytes of a small file; nil when there is none.
  ///
  /// - Throws: `Refusal` 413 when it is too large, 503 when somebody still writes to it.
  func read(_ richType: String, _ name: String, limit: Int) throws(Refusal) -> [UInt8]? {
    let folder = try openFolder(richType)
    defer { close(folder) }
    do throws(Refusal) {
      let file = try AssetFile(folder: folder, name: name)
      guard file.size <= limit else {
        throw Refusal(413, "\(name.quoted) is larger than \(limit) bytes.")
      }
      guard !file.isBeingWritten(closed: true) else { throw Refusal(503, Assets.isComing) }
      return file.prefix(limit)
    } catch {
      if error.status == 404 { return nil }
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
  /// - Throws: `Refusal` 404 when there is no such folder, 503 when it cannot be read.
  func openFolder(_ richType: String) throws(Refusal) -> Int32 {
    let isWhole = only != nil && only == richType
    guard isWhole || Plugin.isName(richType) else { throw Self.missing(richType) }
    let folder = Glibc.open(
      isWhole ? path : path + "/" + richType,
      O_RDONLY | O_DIRECTORY | O_CLOEXEC | (isWhole ? 0 : O_NOFOLLOW))
    if folder >= 0 { return folder }
    let isMissing = !isWhole && [ENOENT, ELOOP, ENOTDIR].contains(errno)
    guard isMissing else { throw Self.unreadable(isWhole ? path : richType) }
    // Or is it the drop folder that is away?
    let root = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard root >= 0 else { throw Self.unreadable(path) }
    close(root)
    throw Self.missing(richType)
  }

  private static func missing(_ richType: String) -> Refusal {
    Refusal(404, "There is no folder \(richType.quoted) for assets.")
  }

  private static func unreadable(_ path: String) -> Refusal {
    let reason = String(cString: strerror(errno))
    return Refusal(503, "The folder \(path) cannot be read: \(reason).", retryAfter: 5)
  }

  /// The names in an open folder, which is closed with that.
  private static func entries(
    of descriptor: Int32, _ path: String
  ) throws(Refusal) -> [FolderEntry] {
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
