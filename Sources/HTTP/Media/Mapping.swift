import Glibc

/// A whole file in memory, read-only: its pages are the page cache's own.
final class Mapping: @unchecked Sendable {  // immutable memory behind an immutable pointer
  private let base: UnsafeMutableRawPointer?
  let size: Int

  /// Maps a file; nil when it cannot be opened or does not have the size.
  init?(path: String, size: Int) {
    self.size = size
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var facts = stat()
    guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG, facts.st_size == size
    else { return nil }
    guard size > 0 else {
      base = nil
      return
    }
    let address = mmap(nil, size, PROT_READ, MAP_SHARED, descriptor, 0)
    guard let address, address != MAP_FAILED else { return nil }
    base = address
  }

  deinit { if let base { munmap(base, size) } }

  /// The bytes of a range that lies within the file.
  func bytes(_ range: Range<Int>) -> UnsafeRawBufferPointer {
    guard let base else { return .empty }
    return UnsafeRawBufferPointer(start: base + range.lowerBound, count: range.count)
  }
}
