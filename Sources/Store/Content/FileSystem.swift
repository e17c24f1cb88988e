import FoundationEssentials
import Glibc
import Primitives

/// Operations on folders and names.
enum FileSystem {
  /// Creates a folder unless it exists (`mkdir`), and makes its name durable.
  static func makeFolder(_ path: String) throws(StoreError) {
    guard mkdir(path, 0o700) != 0 else { return try synchronizeParent(of: path) }
    guard errno == EEXIST else { throw StoreError("create the folder", path) }
  }

  /// Creates the folder of a file unless it exists.
  static func makeParent(of path: String) throws(StoreError) {
    try makeFolder(parent(of: path))
  }

  /// Returns once the names in a folder would survive a power cut (`fsync`).
  static func synchronizeFolder(_ path: String) throws(StoreError) {
    try StoreFile(path, O_RDONLY | O_DIRECTORY).synchronize()
  }

  /// Returns once a file's name would survive a power cut.
  static func synchronizeParent(of path: String) throws(StoreError) {
    try synchronizeFolder(parent(of: path))
  }

  /// Renames a file (`rename`); creates the target's folder if it is missing.
  static func rename(_ source: String, to target: String) throws(StoreError) {
    if Glibc.rename(source, target) == 0 { return }
    if errno == ENOENT {
      try makeParent(of: target)
      if Glibc.rename(source, target) == 0 { return }
    }
    guard errno == EXDEV else { throw StoreError("rename a file to", target) }
    try move(source, to: target)
  }

  /// Moves a file to the disk of a part of the store that is a link; there it is durable.
  private static func move(_ source: String, to target: String) throws(StoreError) {
    let original = try StoreFile(source, O_RDONLY | O_NOFOLLOW)
    let status = try original.status()
    let copy = try StoreFile("\(target)-\(String.randomName())", O_WRONLY | O_CREAT | O_EXCL)
    do throws(StoreError) {
      try original.forEachChunk { chunk throws(StoreError) in try copy.write(chunk) }
      try copy.setMode(status.permissions)
      futimens(copy.number, [status.st_atim, status.st_mtim])
      try copy.synchronize()
      guard Glibc.rename(copy.path, target) == 0 else {
        throw StoreError("rename a file to", target)
      }
    } catch {
      unlink(copy.path)
      throw error
    }
    unlink(source)
    try synchronizeParent(of: target)
  }

  /// Renames a file like ``rename(_:to:)``; the new name survives a power cut.
  static func renameDurably(_ source: String, to target: String) throws(StoreError) {
    try rename(source, to: target)
    try synchronizeParent(of: target)
  }

  /// Sets a file's modification time; false if there is no such file (`utimensat`).
  static func setModified(_ path: String, _ time: Date) -> Bool {
    let seconds = time.timeIntervalSince1970
    let time = timespec(
      tv_sec: Int(seconds.rounded(.down)),
      tv_nsec: Int((seconds - seconds.rounded(.down)) * 1e9))
    return utimensat(AT_FDCWD, path, [time, time], 0) == 0
  }

  /// Sets a file's modification time unless it is within a second of `time`; false if there is no such file.
  static func touch(_ path: String, _ time: Date) -> Bool {
    guard let status = stat(ofFile: path) else { return false }
    return abs(time.timeIntervalSince(status.modified)) < 1 || setModified(path, time)
  }

  private static func parent(of path: String) -> String {
    let path = path.count > 1 && path.hasSuffix("/") ? path.dropLast() : path[...]
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }
}

extension stat {
  /// Facts about a file, following links (`stat`); nil if there is none.
  init?(ofFile path: String) {
    self.init()
    guard stat(path, &self) == 0 else { return nil }
  }

  /// Facts about a file or a link itself (`lstat`); nil if there is none.
  init?(ofLink path: String) {
    self.init()
    guard lstat(path, &self) == 0 else { return nil }
  }

  /// The bits that chmod(2) sets.
  var permissions: mode_t { st_mode & 0o7777 }
  /// The type of the file, such as `S_IFREG`.
  var fileType: mode_t { st_mode & S_IFMT }
  /// The modification time; the store also uses it to note when a file was last used.
  var modified: Date {
    Date(timeIntervalSince1970: Double(st_mtim.tv_sec) + Double(st_mtim.tv_nsec) / 1e9)
  }
}

/// A folder of files named by digests, spread over 256 sub-folders by their first two digits: `ab/abcd…`.
struct DigestFolder: Sendable {
  let path: String
  /// The mode of its files; nil leaves modes as they are.
  let mode: mode_t?

  /// A file found by ``forEachFile(_:)``.
  struct Entry {
    let path: String
    let name: String
    let size: Int
    let modified: Date
  }

  /// Where the file of that name is, whether or not it exists.
  func path(of digest: Digest) -> String {
    "\(path)/\(digest.hex.prefix(2))/\(digest.hex)"
  }

  /// Creates the sub-folders that are missing, so that storing a file never has to.
  func makeSubfolders() throws(StoreError) {
    let made = (0...255).count { number in
      let name = String(number, radix: 16)
      return mkdir("\(path)/\(name.count == 1 ? "0" : "")\(name)", 0o700) == 0
    }
    if made > 0 { try FileSystem.synchronizeFolder(path) }
  }

  /// The paths of the sub-folders, in order, and of whatever else is there.
  var subfolders: [String] { FolderListing.texts(in: path).sorted().map { "\(path)/\($0)" } }

  /// The paths of the sub-folders that ``makeSubfolders()`` makes.
  var ownSubfolders: [String] {
    FolderListing.texts(in: path).filter(Self.isSubfolder).map { "\(path)/\($0)" }
      .filter { stat(ofLink: $0)?.fileType == S_IFDIR }
  }

  /// Whether ``makeSubfolders()`` makes a sub-folder of this name.
  static func isSubfolder(_ name: String) -> Bool {
    name.utf8.count == 2 && name.utf8.allSatisfy(\.isLowercaseHexadecimal)
  }

  /// Whether the store makes files of this name: a digest, perhaps with `.head`.
  static func isFile(_ name: String) -> Bool {
    Digest(hex: name.hasSuffix(".head") ? name.dropLast(5) : name[...]) != nil
  }

  /// Calls `body` with every file; one that is removed meanwhile may be left out.
  ///
  /// Corrects modes that an earlier version set, of what the store has made.
  func forEachFile(_ body: (Entry) throws -> Void) rethrows {
    for subfolder in subfolders { try forEachFile(in: subfolder, body) }
  }

  /// Calls `body` with every file of a sub-folder, like ``forEachFile(_:)``.
  func forEachFile(in subfolder: String, _ body: (Entry) throws -> Void) rethrows {
    let name = subfolder.split(separator: "/").last.map(String.init) ?? ""
    let isOwn =
      mode != nil && Self.isSubfolder(name) && stat(ofLink: path)?.fileType == S_IFDIR
    if isOwn, let status = stat(ofLink: subfolder), status.fileType == S_IFDIR {
      setMode(0o700, of: subfolder, status)
    }
    for name in FolderListing.texts(in: subfolder) {
      let path = "\(subfolder)/\(name)"
      guard let status = stat(ofLink: path), status.fileType == S_IFREG else { continue }
      if isOwn, let mode, Self.isFile(name) { setMode(mode, of: path, status) }
      try body(
        Entry(path: path, name: name, size: Int(status.st_size), modified: status.modified))
    }
  }

  private func setMode(_ mode: mode_t, of path: String, _ status: stat) {
    if status.permissions != mode { fchmodat(AT_FDCWD, path, mode, AT_SYMLINK_NOFOLLOW) }
  }
}
