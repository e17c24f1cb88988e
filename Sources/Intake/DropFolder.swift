package import FoundationEssentials
package import Glibc
import Media
import PluginHost
import Primitives
package import RichPushAPI

/// The folder into which content teams drop files, as `<richType>/<name>`.
///
/// Files are only accessed relative to descriptors of their folders, so links cannot redirect it.
package struct DropFolder: Sendable {
  /// The folder's path, as the operator gave it.
  package let path: String
  /// The rich type of all files in the folder; nil if there is a folder for each rich type.
  let only: String?
  /// The permissions that new files and folders must not have (umask(2)); people read them, so the
  /// data folder's strict ones do not apply.
  let mask: mode_t
  /// Its name among the drop folders of several nodes; nil if it is the only one.
  package let identity: String?

  /// Describes a drop folder; with `only`, all its files have that rich type.
  package init(
    path: String, only: String? = nil, mask: mode_t = 0o022, identity: String? = nil
  ) {
    (self.path, self.only, self.mask, self.identity) = (path, only, mask, identity)
  }

  /// The name of the publish folder in the drop folder.
  package static let publishFolderName = "outbox"

  /// The rich types that have a folder, and all other entries.
  ///
  /// - Throws: `unavailable` if the folder cannot be read.
  package func richTypes() throws(ServiceError) -> (types: [String], others: [FolderEntry]) {
    let root = try openRoot()
    if let only { return ([only], []) }
    var (types, others): ([String], [FolderEntry]) = ([], [])
    for entry in try Self.entries(of: root, path) where !entry.isForeign {
      var status = Glibc.stat()
      let name = entry.spelling ?? ""
      let isFolder =
        Plugin.isValidName(name) && fstatat(root.number, name, &status, AT_SYMLINK_NOFOLLOW) == 0
        && status.st_mode & S_IFMT == S_IFDIR
      if isFolder, name != Self.publishFolderName { types.append(name) }
      if !isFolder { others.append(entry) }
    }
    return (types.sorted(), others)
  }

  /// The entries of a rich type's folder, with the stamps of their files.
  ///
  /// - Throws: `notFound` if there is no such folder, `unavailable` if it cannot be read.
  package func entries(_ richType: String) throws(ServiceError) -> [(
    entry: FolderEntry, stamp: String
  )] {
    let folder = try openFolder(richType)
    return try Self.entries(of: folder, richType).compactMap { entry in
      entry.stamp(in: folder, identity).map { (entry, $0) }
    }
  }

  /// Opens an asset's file; `spelling` is its name on disk, if known.
  func open(
    _ richType: String, _ name: AssetName, spelling: String? = nil
  ) throws(ServiceError) -> AssetFile {
    let folder = try openFolder(richType)
    return try AssetFile(
      folder: folder.number, name: spelling ?? Self.spelling(of: name.value, in: folder, richType),
      identity: identity)
  }

  /// The stamp of the entry for an asset's name, also if it is not a file; nil if there is none.
  package func stamp(_ richType: String, _ name: AssetName, spelling: String?) -> String? {
    guard let folder = try? openFolder(richType) else { return nil }
    let found = spelling ?? Self.spelling(of: name.value, in: folder, richType)
    return FolderEntry(Array(found.utf8)).stamp(in: folder, identity)
  }

  /// The stamp of the entry with exactly this name; nil if there is none.
  package func stamp(_ richType: String, named name: String) -> String? {
    stamp(richType, FolderEntry(Array(name.utf8)))
  }

  /// When an entry was changed last, or got its name; nil if it does not exist any more.
  package func changeTime(_ richType: String, named name: String) -> FileTime? {
    guard let folder = try? openFolder(richType),
      let status = FolderEntry(Array(name.utf8)).status(in: folder)
    else { return nil }
    return FileTime(seconds: status.st_ctim.tv_sec, nanoseconds: status.st_ctim.tv_nsec)
  }

  /// The stamp of an entry; nil if it does not exist any more.
  package func stamp(_ richType: String, _ entry: FolderEntry) -> String? {
    (try? openFolder(richType)).flatMap { entry.stamp(in: $0, identity) }
  }

  /// When the file with exactly this name was last written; nil if there is none.
  package func modified(_ richType: String, named name: String) -> Date? {
    guard let folder = try? openFolder(richType),
      let file = try? AssetFile(folder: folder.number, name: name)
    else { return nil }
    return file.modified
  }

  /// The bytes of a small file; nil if there is none.
  ///
  /// - Throws: `tooLarge`, or `incomplete` if a process is still writing to it.
  package func read(_ richType: String, _ name: String, limit: Int) throws(ServiceError) -> [UInt8]?
  {
    let folder = try openFolder(richType)
    do throws(ServiceError) {
      let file = try AssetFile(folder: folder.number, name: name)
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

  /// The spelling of a name on disk, which can have another of Unicode's forms, such as macOS's.
  static func spelling(of name: String, in folder: FileDescriptor, _ path: String) -> String {
    if name.isPrintableASCII { return name }
    return FolderNames((try? Self.entries(of: folder, path)) ?? [], in: folder).spelling(of: name)
  }

  /// Opens the drop folder itself.
  func openRoot() throws(ServiceError) -> FileDescriptor {
    do throws(Errno) {
      return try FileDescriptor(path, O_RDONLY | O_DIRECTORY)
    } catch { throw Self.unreadable(path, error) }
  }

  /// Opens a rich type's folder.
  ///
  /// - Throws: `notFound` if there is no such folder, `unavailable` if it cannot be read.
  func openFolder(_ richType: String) throws(ServiceError) -> FileDescriptor {
    if let only, only == richType { return try openRoot() }
    guard Plugin.isValidName(richType) else { throw Self.missing(richType) }
    do throws(Errno) {
      return try FileDescriptor(path + "/" + richType, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
    } catch {
      guard [ENOENT, ELOOP, ENOTDIR].contains(error.rawValue) else {
        throw Self.unreadable(richType, error)
      }
      _ = try openRoot()  // if the drop folder itself is missing, that is the error
      throw Self.missing(richType)
    }
  }

  private static func missing(_ richType: String) -> ServiceError {
    ServiceError(.notFound, "There is no folder \(richType.quoted) for assets.")
  }

  private static func unreadable(_ path: String, _ error: Errno) -> ServiceError {
    ServiceError(.unavailable, "The folder \(path) cannot be read: \(error).", retryAfter: 5)
  }

  /// The entries of an open folder; `path` is for error messages.
  static func entries(
    of descriptor: FileDescriptor, _ path: String
  ) throws(ServiceError) -> [FolderEntry] {
    do throws(Errno) {
      return try FolderListing(descriptor).names.map { name in
        FolderEntry(name.dropLast().map { UInt8(bitPattern: $0) })
      }
    } catch { throw unreadable(path, error) }
  }
}

/// A time of a file.
package struct FileTime: Sendable, Comparable {
  let seconds: Int
  let nanoseconds: Int

  /// The time as a date.
  package var date: Date {
    Date(timeIntervalSince1970: Double(seconds) + Double(nanoseconds) / 1_000_000_000)
  }

  package static func < (one: Self, other: Self) -> Bool {
    (one.seconds, one.nanoseconds) < (other.seconds, other.nanoseconds)
  }
}

/// A regular file of the drop folder, opened without following any link.
struct AssetFile {
  let descriptor: FileDescriptor
  let size: Int
  let modified: Date
  /// Identifies the state of the file without reading it.
  let stamp: String

  /// Opens a file; `folder` is the descriptor of its folder, or `AT_FDCWD`.
  ///
  /// - Throws: `notFound` if there is no such name, `rejected` if it is not a readable file.
  init(folder: Int32, name: String, identity: String? = nil) throws(ServiceError) {
    var before = Glibc.stat()
    guard fstatat(folder, name, &before, AT_SYMLINK_NOFOLLOW) == 0 else {
      throw ServiceError(.notFound, "There is no file \(name.quoted).")
    }
    if let problem = Self.problem(with: before.st_mode) { throw ServiceError(.rejected, problem) }
    // O_NONBLOCK: opening must not block if the file was replaced by a pipe since fstatat.
    let opened = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard let descriptor = FileDescriptor(owning: opened) else {
      throw errno == ENOENT
        ? ServiceError(.notFound, "There is no file \(name.quoted).")
        : ServiceError(.rejected, "The file cannot be read: \(String(cString: strerror(errno))).")
    }
    guard let status = try? descriptor.status(), Self.problem(with: status.st_mode) == nil else {
      throw ServiceError(.rejected, "The file changed while it was being opened.")
    }
    self.descriptor = descriptor
    size = Int(status.st_size)
    modified = status.written
    stamp = status.stamp(in: identity)
  }

  /// Whether a process is still writing to the file.
  ///
  /// The kernel grants a read lease only on a file that no process has open for writing (fcntl(2)).
  /// Where there are no leases, as on a network share, a file is complete if it was not changed for two
  /// seconds, or if the kernel has reported that its writer `closed` it.
  func isBeingWritten(closed: Bool) -> Bool {
    // The kernel signals a writer that opens the file during the lease; SIGURG is ignored by default.
    _ = fcntl(descriptor.number, 10 /* F_SETSIG */, SIGURG)
    if fcntl(descriptor.number, 1024 /* F_SETLEASE */, F_RDLCK) == 0 {
      _ = fcntl(descriptor.number, 1024 /* F_SETLEASE */, F_UNLCK)
      return false
    }
    if errno == EAGAIN { return true }
    return !closed && (0..<2).contains(Date().timeIntervalSince(modified))
  }

  /// The first bytes, for detecting the type.
  func prefix(_ count: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      filled = max(0, pread(descriptor.number, buffer.baseAddress, count, 0))
    }
  }

  /// Why something that is not a regular file cannot be an asset.
  private static func problem(with mode: mode_t) -> String? {
    switch mode & S_IFMT {
    case S_IFREG: nil
    case S_IFDIR: "It is a folder: put its files into the folder above it."
    case S_IFLNK: "It is a symbolic link: copy the file itself into the folder."
    case S_IFIFO: "It is a pipe, not a file."
    case S_IFSOCK: "It is a socket, not a file."
    default: "It is a device, not a file."
    }
  }
}
