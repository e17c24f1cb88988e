import CLinux
import Glibc

/// An open file, closed with its owner.
///
/// Work on it through its methods: they keep it open for as long as they run, as `number` does not.
struct Descriptor: ~Copyable {
  let number: Int32

  /// Opens a file (`open`); it is never inherited by a child process.
  init(_ path: String, _ flags: Int32, mode: mode_t = 0o600) throws(StoreError) {
    number = open(path, flags | O_CLOEXEC, mode)
    guard number >= 0 else { throw StoreError("open", path) }
  }

  deinit { close(number) }

  /// Facts about the open file (`fstat`).
  func status() throws(StoreError) -> stat {
    var status = stat()
    guard fstat(number, &status) == 0 else { throw StoreError("examine", "an open file") }
    return status
  }

  /// Changes who may do what with the file (`fchmod`).
  func setMode(_ mode: mode_t, path: String) throws(StoreError) {
    guard fchmod(number, mode) == 0 else { throw StoreError("change the mode of", path) }
  }

  /// Locks the file until it is closed; false when that fails, or would have to wait (`flock`).
  func lock(_ operation: Int32) -> Bool {
    while flock(number, operation) != 0 {
      if errno != EINTR { return false }
    }
    return true
  }

  /// Writes every byte (`write`), however often the kernel takes only a part.
  func write(_ bytes: UnsafeRawBufferPointer, path: String) throws(StoreError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = Glibc.write(
        number, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
      if count >= 0 {
        rest = rest.dropFirst(count)
      } else if errno != EINTR {
        throw StoreError("write", path)
      }
    }
  }

  /// Gives up what the system's memory has of the file, but what is not on the disk yet.
  func leaveToDisk() { posix_fadvise(number, 0, 0, POSIX_FADV_DONTNEED) }

  /// Returns once the file's bytes, or the folder's names, would survive a power cut (`fsync`).
  func synchronize(path: String) throws(StoreError) {
    while fsync(number) != 0 {
      guard errno == EINTR else { throw StoreError("make durable", path) }
    }
  }

  /// The file as text, or as much of it as `limit` bytes are.
  func text(limit: Int) throws(StoreError) -> String {
    var bytes: [UInt8] = []
    try read { piece throws(StoreError) in
      bytes.append(contentsOf: piece.prefix(limit - bytes.count))
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Returns once everything on this file's file system would survive a power cut (`syncfs`).
  func synchronizeFileSystem(path: String) throws(StoreError) {
    guard syncfs(number) == 0 else { throw StoreError("make durable", path) }
  }

  /// Calls `body` with each piece of the file from its beginning to its end.
  func read(
    _ body: (UnsafeRawBufferPointer) throws(StoreError) -> Void
  ) throws(StoreError) {
    try Self.read(number, body)
  }

  /// Calls `body` with each piece of an open file that somebody else closes (`pread`).
  static func read(
    _ number: Int32, _ body: (UnsafeRawBufferPointer) throws(StoreError) -> Void
  ) throws(StoreError) {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
    defer { buffer.deallocate() }
    var offset = 0
    while true {
      let count = pread(number, buffer.baseAddress, buffer.count, offset)
      if count == 0 { return }
      if count > 0 {
        try body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        offset += count
      } else if errno != EINTR {
        throw StoreError("read", "an open file")
      }
    }
  }
}
