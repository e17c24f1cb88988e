import Glibc

/// A file that somebody else opened and will close, read by position (pread(2)).
package struct OpenFile: ByteSource {
  private let descriptor: CInt
  /// The file's size when it was looked at first.
  package let size: Int

  /// Opens a file for as long as the body runs; the body gets nil when there is no such file.
  package static func reading<Result>(
    _ path: String, _ body: (OpenFile?) throws -> Result
  ) rethrows -> Result {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    defer { if descriptor >= 0 { close(descriptor) } }
    return try body(OpenFile(descriptor: descriptor))
  }

  /// A regular file by its descriptor; nil when it is something else (fstat(2)).
  package init?(descriptor: CInt) {
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    self.descriptor = descriptor
    size = status.st_size
  }

  /// Reads until the count or the end is reached; a call cut short by a signal is repeated.
  package func read(at offset: Int, count: Int) -> [UInt8] {
    guard offset >= 0, offset < size, count > 0 else { return [] }
    let wanted = min(count, size - offset)
    return [UInt8](unsafeUninitializedCapacity: wanted) { buffer, filled in
      filled = 0
      while filled < wanted {
        let part = UnsafeMutableRawBufferPointer(buffer)[filled..<wanted]
        let got = pread(
          descriptor, UnsafeMutableRawBufferPointer(rebasing: part).baseAddress, part.count,
          offset + filled)
        if got < 0, errno == EINTR { continue }
        guard got > 0 else { return }
        filled += got
      }
    }
  }
}
