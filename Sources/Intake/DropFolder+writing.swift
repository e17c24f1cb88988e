import Glibc
package import RichPushAPI

extension DropFolder {
  /// Puts a copy of the file at `path` under a name, in one step: no reader sees half of it.
  func put(_ path: String, _ richType: String, _ name: AssetName) throws(ServiceError) {
    let source = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard source >= 0 else { throw Self.failure("The upload cannot be read") }
    defer { close(source) }
    try put(richType, name.value) { target throws(ServiceError) in try Self.copy(source, target) }
  }

  /// Puts a text under a name, in the same way.
  package func put(text: String, _ richType: String, _ name: String) throws(ServiceError) {
    try put(richType, name) { target throws(ServiceError) in
      var text = text
      let isWhole = text.withUTF8 { Glibc.write(target, $0.baseAddress, $0.count) == $0.count }
      guard isWhole else { throw Self.failure("The file could not be written") }
    }
  }

  private func put(
    _ richType: String, _ name: String, _ fill: (_ target: Int32) throws(ServiceError) -> Void
  ) throws(ServiceError) {
    let folder = try openMaking(richType)
    defer { close(folder) }
    let temporary = Self.temporary + String(UInt64.random(in: .min ... .max), radix: 36)
    let target = openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
    guard target >= 0 else { throw Self.failure("The folder \(richType) cannot be written to") }
    fchmod(target, 0o644 & ~mask)
    do throws(ServiceError) {
      try Self.filled(target, fill)
      guard renameat(folder, temporary, folder, name) == 0, fsync(folder) == 0
      else { throw Self.failure("The file could not be kept") }
    } catch {
      unlinkat(folder, temporary, 0)
      throw error
    }
  }

  /// Fills a new file and closes it, so that no watcher sees it while it is open for writing.
  private static func filled(
    _ target: Int32, _ fill: (_ target: Int32) throws(ServiceError) -> Void
  ) throws(ServiceError) {
    defer { close(target) }
    try fill(target)
    guard fsync(target) == 0 else { throw failure("The file could not be kept") }
  }

  /// Removes a name.
  ///
  /// - Throws: `ServiceError` 404 when there is none.
  package func remove(_ richType: String, _ name: AssetName) throws(ServiceError) {
    let folder = try openFolder(richType)
    defer { close(folder) }
    guard unlinkat(folder, Self.spelling(of: name, in: folder, richType), 0) == 0 else {
      throw errno == ENOENT
        ? ServiceError(.notFound, "There is no file \(name.value.quoted).")
        : Self.failure("The file could not be removed")
    }
    fsync(folder)
  }

  /// Removes a note that the server wrote, if there is one.
  package func removeResult(_ richType: String, _ name: String) {
    guard let folder = try? openFolder(richType) else { return }
    defer { close(folder) }
    unlinkat(folder, name, 0)
  }

  private func openMaking(_ richType: String) throws(ServiceError) -> Int32 {
    let root = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard root >= 0 else { throw Self.failure("The drop folder cannot be opened") }
    defer { close(root) }
    let isNew = mkdirat(root, richType, 0o755) == 0
    let folder = try openFolder(richType)
    if isNew { share(folder) }
    return folder
  }

  /// Creates the folder, if there is none.
  package func create() {
    guard mkdir(path, 0o755) == 0 else { return }
    let root = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    share(root)
    close(root)
  }

  /// Gives a new folder its mode; it keeps the group that it may have inherited.
  private func share(_ folder: Int32) {
    var status = Glibc.stat()
    guard fstat(folder, &status) == 0 else { return }
    fchmod(folder, status.st_mode & 0o7000 | 0o755 & ~mask)
  }

  /// Removes what uploads left that were under way when the server was killed.
  func removeUnfinishedUploads(_ richType: String) {
    guard let folder = try? openFolder(richType) else { return }
    defer { close(folder) }
    for (entry, _) in (try? entries(richType)) ?? [] {
      guard let name = entry.spelling, name.hasPrefix(Self.temporary) else { continue }
      unlinkat(folder, name, 0)
    }
  }

  private static let temporary = ".richpush-upload-"

  private static func copy(_ source: Int32, _ target: Int32) throws(ServiceError) {
    while true {
      let count = sendfile(target, source, nil, 1 << 20)
      if count == 0 { return }
      if count < 0, errno != EINTR { throw failure("The file could not be written") }
    }
  }

  private static func failure(_ what: String) -> ServiceError {
    let isFull = errno == ENOSPC || errno == EDQUOT
    return ServiceError(
      isFull ? .diskFull : .unavailable, "\(what): \(String(cString: strerror(errno))).")
  }
}
