import CLinux
import Glibc
import Primitives
package import RichPushAPI

extension DropFolder {
  /// Puts a copy of the file at `path` under a name, atomically: no reader sees a part of it.
  ///
  /// - Returns: the stamp of the new file.
  /// - Throws: `preconditionFailed` if there is a file of this name, which it may not replace; `diskFull`.
  func put(
    _ path: String, _ richType: String, _ name: AssetName, mayReplace: Bool = true
  ) throws(ServiceError) -> String {
    let source: FileDescriptor
    do throws(Errno) {
      source = try FileDescriptor(path, O_RDONLY | O_NOFOLLOW)
    } catch { throw Self.failure("The upload cannot be read", error) }
    do throws(ServiceError) {
      return try put(richType, name.value, mayReplace: mayReplace) { target throws(ServiceError) in
        try Self.copy(source, target)
      }
    } catch {
      throw error.code == .preconditionFailed ? Self.existing(richType, name) : error
    }
  }

  /// The error if there is a file of this name, which may not be replaced.
  static func existing(_ richType: String, _ name: AssetName) -> ServiceError {
    ServiceError(
      .preconditionFailed,
      "There is already a file \(name.value.quoted) of the rich type \(richType.quoted).")
  }

  /// Returns if there is space for a copy of the file at `path` in a rich type's folder.
  ///
  /// - Throws: `diskFull`.
  func requireSpace(forCopyOf path: String, _ richType: String) throws(ServiceError) {
    var file = stat()
    guard let folder = (try? openFolder(richType)) ?? (try? openRoot()), stat(path, &file) == 0
    else { return }
    try Self.requireSpace(for: Int(file.st_size), beside: folder)
  }

  /// Puts a text under a name, atomically.
  package func put(text: String, _ richType: String, _ name: String) throws(ServiceError) {
    _ = try put(richType, name) { target throws(ServiceError) in
      do throws(Errno) { try target.write(Array(text.utf8)) } catch {
        throw Self.failure("The file could not be written", error)
      }
    }
  }

  private func put(
    _ richType: String, _ name: String, mayReplace: Bool = true,
    _ fill: (_ target: FileDescriptor) throws(ServiceError) -> Void
  ) throws(ServiceError) -> String {
    let folder = try createFolder(richType)
    let temporary = Self.temporary + .randomName()
    // A file with this name in another of Unicode's forms is the one that is replaced.
    let spelling = Self.spelling(of: name, in: folder, richType)
    do throws(ServiceError) {
      try createFile(temporary, in: folder, richType, fill)
      let file = try AssetFile(folder: folder.number, name: temporary)
      try Self.rename(temporary, to: spelling, in: folder, mayReplace: mayReplace)
      guard fsync(folder.number) == 0 else { throw Self.failure("The file could not be kept") }
      // The file's that was written, whatever has its name meanwhile.
      guard let status = try? file.descriptor.status() else {
        throw Self.failure("The file could not be kept")
      }
      return status.stamp(in: identity)
    } catch {
      unlinkat(folder.number, temporary, 0)
      throw error
    }
  }

  private static func rename(
    _ temporary: String, to name: String, in folder: FileDescriptor, mayReplace: Bool
  ) throws(ServiceError) {
    if !mayReplace {
      if clinux_rename_new(folder.number, temporary, name) == 0 { return }
      // A network share may not know the flag.
      let isUnknown = [EINVAL, ENOSYS, ENOTSUP].contains(errno)
      let isFree = faccessat(folder.number, name, F_OK, AT_SYMLINK_NOFOLLOW) != 0
      guard isFree, isUnknown else {
        throw isFree
          ? failure("The file could not be kept")
          : ServiceError(.preconditionFailed, "There is already a file \(name.quoted).")
      }
    }
    guard renameat(folder.number, temporary, folder.number, name) == 0 else {
      throw failure("The file could not be kept")
    }
  }

  /// Creates, fills and closes a file: no watcher may see it under its name while it is open for writing.
  private func createFile(
    _ name: String, in folder: FileDescriptor, _ richType: String,
    _ fill: (_ target: FileDescriptor) throws(ServiceError) -> Void
  ) throws(ServiceError) {
    let descriptor = openat(folder.number, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
    guard let file = FileDescriptor(owning: descriptor) else {
      throw Self.failure("The folder \(richType) cannot be written to")
    }
    fchmod(file.number, 0o644 & ~mask | Self.groupMode(in: try? folder.status()) & 0o060)
    try fill(file)
    guard fsync(file.number) == 0 else { throw Self.failure("The file could not be kept") }
  }

  /// Renames a file, atomically; never in the place of another.
  ///
  /// - Returns: its stamp, which has changed; nil if there is another file of the new name.
  /// - Throws: `notFound` if there is none of the old name, `rejected` if that is no regular file.
  func rename(
    _ richType: String, _ name: AssetName, to new: AssetName
  ) throws(ServiceError) -> String? {
    let folder = try openFolder(richType)
    let spelling = Self.spelling(of: name.value, in: folder, richType)
    let file = try AssetFile(folder: folder.number, name: spelling)
    do throws(ServiceError) {
      try Self.rename(spelling, to: new.value, in: folder, mayReplace: false)
    } catch {
      guard error.code == .preconditionFailed else { throw error }
      return nil
    }
    guard fsync(folder.number) == 0, let status = try? file.descriptor.status() else {
      throw Self.failure("The new name could not be kept")
    }
    return status.stamp(in: identity)
  }

  /// Removes a file.
  ///
  /// - Throws: `notFound` if there is none.
  package func remove(_ richType: String, _ name: AssetName) throws(ServiceError) {
    let folder = try openFolder(richType)
    let spelling = Self.spelling(of: name.value, in: folder, richType)
    guard unlinkat(folder.number, spelling, 0) == 0 else {
      throw errno == ENOENT
        ? ServiceError(.notFound, "There is no file \(name.value.quoted).")
        : Self.failure("The file could not be removed")
    }
    fsync(folder.number)
  }

  /// Removes a result that the server wrote, if there is one.
  package func removeResult(_ richType: String, _ name: String) {
    guard let folder = try? openFolder(richType) else { return }
    unlinkat(folder.number, Self.spelling(of: name, in: folder, richType), 0)
  }

  /// Opens a rich type's folder; creates it if there is none.
  private func createFolder(_ richType: String) throws(ServiceError) -> FileDescriptor {
    let root = try openRoot()
    if faccessat(root.number, richType, F_OK, AT_SYMLINK_NOFOLLOW) != 0 {
      makeFolder(richType, in: root.number, (try? root.status()))
    }
    return try openFolder(richType)
  }

  /// Creates the drop folder, if there is none.
  package func create() {
    var status = stat()
    guard lstat(path, &status) != 0 else { return }
    let ancestors = path.split(separator: "/", omittingEmptySubsequences: true).dropLast()
    let parent = (path.hasPrefix("/") ? "/" : "./") + ancestors.joined(separator: "/")
    makeFolder(path, in: AT_FDCWD, stat(parent, &status) == 0 ? status : nil)
  }

  /// Makes a folder in the folder with this status.
  private func makeFolder(_ name: String, in folder: Int32, _ status: stat?) {
    let mode = 0o755 & ~mask | Self.groupMode(in: status)
    if clinux_make_folder(folder, name, mode) == 0 || errno != EPERM { return }
    // A container may forbid a thread to have a umask of its own.
    guard mkdirat(folder, name, mode) == 0,
      let new = FileDescriptor(
        owning: openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)),
      let inherited = try? new.status().st_mode & 0o7000
    else { return }
    fchmod(new.number, inherited | mode)
  }

  /// What the group of a folder may do with what is made in it: as much as in the folder, if that has the set-group-ID
  /// bit, by which a team shares it; otherwise nothing that others may not do as well.
  private static func groupMode(in status: stat?) -> mode_t {
    guard let mode = status?.st_mode, mode & S_ISGID != 0 else { return 0 }
    return mode & 0o070
  }

  /// Removes the temporary files of uploads that were interrupted when the server was killed.
  func removeUnfinishedUploads(_ richType: String) {
    guard let folder = try? openFolder(richType) else { return }
    for (entry, _) in (try? entries(richType)) ?? [] {
      guard let name = entry.spelling, name.hasPrefix(Self.temporary) else { continue }
      unlinkat(folder.number, name, 0)
    }
  }

  private static let temporary = ".richpush-upload-"

  private static func copy(
    _ source: FileDescriptor, _ target: FileDescriptor
  ) throws(ServiceError) {
    if clinux_clone(target.number, source.number) == 0 { return }
    if let size = try? source.status().st_size {
      try requireSpace(for: Int(size), beside: target)
    }
    while clinux_copy_part(target.number, source.number, 1 << 30) > 0 {}
    // To another file system, or what else the kernel refused to copy.
    while true {
      let count = sendfile(target.number, source.number, nil, 1 << 20)
      if count == 0 { return }
      if count < 0, errno != EINTR { throw failure("The file could not be written") }
    }
  }

  /// Returns if the file system of an open file or folder has space for so many bytes.
  private static func requireSpace(
    for bytes: Int, beside file: FileDescriptor
  ) throws(ServiceError) {
    var space = statvfs()
    if fstatvfs(file.number, &space) == 0 { try space.requireSpace(for: bytes) }
  }

  private static func failure(_ what: String, _ error: Errno = .current) -> ServiceError {
    let isFull = [ENOSPC, EDQUOT].contains(error.rawValue)
    return ServiceError(isFull ? .diskFull : .unavailable, "\(what): \(error).")
  }
}
