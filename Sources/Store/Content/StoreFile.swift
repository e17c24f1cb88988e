import CLinux
import FoundationEssentials
import Glibc
import Primitives
import Synchronization

/// An open file of the store: a descriptor with the path that its errors name.
struct StoreFile: Sendable {
  let path: String
  let descriptor: FileDescriptor

  /// The descriptor's number, valid while this value is referenced.
  var number: Int32 { descriptor.number }

  /// Opens a file (`open`) that child processes do not inherit.
  init(_ path: String, _ flags: Int32, mode: mode_t = 0o600) throws(StoreError) {
    self.path = path
    descriptor = try Self.attempt("open", path) { () throws(Errno) in
      try FileDescriptor(path, flags, mode: mode)
    }
  }

  /// Facts about the file (`fstat`).
  func status() throws(StoreError) -> stat {
    try Self.attempt("examine", path) { () throws(Errno) in try descriptor.status() }
  }

  /// The names in the folder; in one that is no text, what is wrong is replaced.
  func names() throws(StoreError) -> [String] {
    let listing = try Self.attempt("read", path) { () throws(Errno) in
      try FolderListing(descriptor)
    }
    return listing.names.map {
      String(decoding: $0.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
  }

  /// Sets the permissions (`fchmod`).
  func setMode(_ mode: mode_t) throws(StoreError) {
    guard fchmod(number, mode) == 0 else {
      throw StoreError("change the mode of", path)
    }
  }

  /// Locks the file until it is closed (`flock`); false if that fails or, with `LOCK_NB`, would block.
  func lock(_ operation: Int32) -> Bool {
    (try? FileDescriptor.retrying { Int(flock(number, operation)) }) != nil
  }

  /// Writes all of `bytes`.
  func write(_ bytes: UnsafeRawBufferPointer) throws(StoreError) {
    try Self.attempt("write", path) { () throws(Errno) in try descriptor.write(bytes) }
  }

  /// Returns once the file's bytes, or the folder's names, would survive a power cut (`fsync`).
  func synchronize() throws(StoreError) {
    try Self.attempt("make durable", path) { () throws(Errno) in try descriptor.synchronize() }
  }

  /// Returns once everything on this file's file system would survive a power cut (`syncfs`).
  func synchronizeFileSystem() throws(StoreError) {
    guard syncfs(number) == 0 else { throw StoreError("make durable", path) }
  }

  /// Drops the file's clean pages from the page cache (`posix_fadvise`).
  func dropFromPageCache() { posix_fadvise(number, 0, 0, POSIX_FADV_DONTNEED) }

  /// The first `limit` bytes as text.
  func text(limit: Int) throws(StoreError) -> String {
    let bytes = try Self.attempt("read", path) { () throws(Errno) in
      try descriptor.readAll(limit: limit)
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// A part of the file, of which all must be there.
  func bytes(at offset: Int, count: Int) throws(StoreError) -> [UInt8] {
    let bytes = [UInt8](unsafeUninitializedCapacity: max(0, count)) { buffer, read in
      read = max(0, pread(number, buffer.baseAddress, buffer.count, offset))
    }
    guard bytes.count == count else { throw StoreError(.damaged, "\(path) is shorter than it was") }
    return bytes
  }

  /// Shortens the file (`ftruncate`).
  func truncate(to size: Int) throws(StoreError) {
    guard ftruncate(number, size) == 0 else { throw StoreError("shorten", path) }
  }

  /// Whether another descriptor or a mapping has the file open; false if the file system does not tell.
  var isOpenElsewhere: Bool { clinux_is_open_elsewhere(number) != 0 }

  /// The SHA-256 of the whole file.
  func digest() throws(StoreError) -> Digest {
    var hasher = SHA256Hasher()
    try Self.forEachChunk(of: number) { chunk throws(StoreError) in
      hasher.update(chunk)
    }
    return hasher.finalize()
  }

  /// Calls `body` with each piece of the file, from its beginning to its end.
  func forEachChunk(
    _ body: (UnsafeRawBufferPointer) throws(StoreError) -> Void
  ) throws(StoreError) {
    try Self.forEachChunk(of: number, body)
  }

  /// The same for a caller's descriptor; its offset is neither used nor moved (`pread`).
  static func forEachChunk(
    of number: Int32, _ body: (UnsafeRawBufferPointer) throws(StoreError) -> Void
  ) throws(StoreError) {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
    defer { buffer.deallocate() }
    var offset = 0
    while true {
      let count = try attempt("read", "an open file") { () throws(Errno) in
        try FileDescriptor.retrying { pread(number, buffer.baseAddress, buffer.count, offset) }
      }
      if count == 0 { return }
      try body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      offset += count
    }
  }

  private static func attempt<R>(
    _ action: String, _ path: String, _ body: () throws(Errno) -> R
  ) throws(StoreError) -> R {
    do { return try body() } catch { throw StoreError(errno: error.rawValue, action, path) }
  }
}

extension Digest {
  /// The SHA-256 of a file, which may not be a symbolic link.
  init(ofFile path: String) throws(StoreError) {
    self = try StoreFile(path, O_RDONLY | O_NOFOLLOW).digest()
  }
}

// MARK: - Files being written

/// A new file in `tmp/`, removed with the last reference unless it was renamed.
final class TemporaryFile: Sendable {
  let path: String
  let file: StoreFile
  private let isGone = Atomic(false)

  init(in folder: DataFolder) throws(StoreError) {
    path = folder.temporaryPath()
    file = try StoreFile(path, O_RDWR | O_CREAT | O_EXCL)
  }

  /// Takes a file over that somebody has written to `tmp/` and closed.
  init(takingOver path: String) throws(StoreError) {
    self.path = path
    file = try StoreFile(path, O_RDONLY | O_NOFOLLOW)
  }

  deinit { remove() }

  /// Removes the file, unless it was removed or renamed before.
  func remove() {
    if !isGone.exchange(true, ordering: .relaxed) { unlink(path) }
  }

  /// Sets the file's time unless `time` is now: then it has just been written.
  func setModified(_ time: Date) {
    if abs(time.timeIntervalSinceNow) >= 1 { _ = FileSystem.setModified(path, time) }
  }

  /// Gives the file its final mode and name (`rename`).
  func rename(to target: String, mode: mode_t = 0o600) throws(StoreError) {
    try file.setMode(mode)
    try FileSystem.rename(path, to: target)
    isGone.store(true, ordering: .relaxed)
  }
}

/// Writes a temporary file, and computes its size and its digest.
struct HashingWriter: ~Copyable {
  let target: TemporaryFile
  private var hasher = SHA256Hasher()
  private(set) var size = 0

  init(in folder: DataFolder) throws(StoreError) { target = try TemporaryFile(in: folder) }

  mutating func write(_ bytes: [UInt8]) throws(StoreError) {
    try bytes.span.bytes.withUnsafeBytes { chunk throws(StoreError) in try write(chunk) }
  }

  mutating func write(_ bytes: UnsafeRawBufferPointer) throws(StoreError) {
    try target.file.write(bytes)
    hasher.update(bytes)
    size += bytes.count
  }

  /// The digest of what was written; nothing may be written after it.
  mutating func digest() -> Digest { hasher.finalize() }
}
