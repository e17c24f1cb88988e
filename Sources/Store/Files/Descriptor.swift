import Glibc

/// An open file, closed with its owner.
struct Descriptor: ~Copyable {
  let number: Int32

  /// Opens a file (`open`); it is never inherited by a child process.
  init(_ path: String, _ flags: Int32, mode: mode_t = 0o644) throws(StoreError) {
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

  /// Returns once the file's bytes, or the folder's names, would survive a power cut (`fsync`).
  func synchronize(path: String) throws(StoreError) {
    while fsync(number) != 0 {
      guard errno == EINTR else { throw StoreError("make durable", path) }
    }
  }

  /// The file as text, or as much of it as `limit` bytes are.
  func text(limit: Int) throws(StoreError) -> String {
    var bytes: [UInt8] = []
    try Self.read(number) { piece throws(StoreError) in
      bytes.append(contentsOf: piece.prefix(limit - bytes.count))
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Calls `body` with each piece of a file from its beginning to its end (`pread`).
  static func read(
    _ number: Int32, _ body: (UnsafeRawBufferPointer) throws(StoreError) -> Void
  ) throws(StoreError) {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 17, alignment: 16)
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
