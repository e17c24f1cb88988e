package import Glibc

/// An error of a system call.
package struct Errno: Error, Equatable, CustomStringConvertible {
  /// The value of `errno`.
  package let rawValue: Int32

  /// Wraps a value of `errno`.
  package init(rawValue: Int32) { self.rawValue = rawValue }

  /// The error of the system call that failed last on this thread.
  package static var current: Errno { Errno(rawValue: errno) }

  /// The system's text (`strerror`).
  package var description: String { String(cString: strerror(rawValue)) }
}

/// An open file descriptor, closed when the last reference to it is released.
///
/// Every call that a signal interrupts (`EINTR`) is repeated.
package final class FileDescriptor: Sendable {
  /// The descriptor's number, valid only while this object is referenced.
  package let number: Int32

  /// Takes ownership of a descriptor that a system call returned; nil if the call failed.
  package init?(owning number: Int32) {
    guard number >= 0 else { return nil }
    self.number = number
  }

  /// Opens a file (`open`) that child processes do not inherit.
  package init(_ path: String, _ flags: Int32, mode: mode_t = 0o600) throws(Errno) {
    let opened = open(path, flags | O_CLOEXEC, mode)
    // Before `number` is set: an object with all its members is deinitialized, and close(-1) sets errno.
    if opened < 0 { throw Errno.current }
    number = opened
  }

  deinit { close(number) }

  /// Reads once (`read`).
  ///
  /// - Returns: The number of bytes read; 0 at the end of the file.
  /// - Throws: `EAGAIN` if the descriptor is non-blocking and nothing has arrived.
  package func read(into buffer: UnsafeMutableRawBufferPointer) throws(Errno) -> Int {
    try Self.retrying { Glibc.read(number, buffer.baseAddress, buffer.count) }
  }

  /// Reads until the end of the file or until `limit` bytes have been read.
  package func readAll(limit: Int) throws(Errno) -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < limit {
      let piece = try readSome(limit: min(limit - bytes.count, Self.pieceSize))
      if piece.isEmpty { break }
      bytes += piece
    }
    return bytes
  }

  /// Reads once; an empty array is the end of the file.
  package func readSome(limit: Int) throws(Errno) -> [UInt8] {
    var failure: Errno?
    let bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
      do throws(Errno) {
        count = try read(into: UnsafeMutableRawBufferPointer(buffer))
      } catch { failure = error }
    }
    if let failure { throw failure }
    return bytes
  }

  /// Writes all of `bytes`, however often the kernel takes only a part.
  package func write(_ bytes: UnsafeRawBufferPointer) throws(Errno) {
    var rest = bytes
    while !rest.isEmpty {
      let count = try Self.retrying { Glibc.write(number, rest.baseAddress, rest.count) }
      rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
    }
  }

  /// Writes all of `bytes`, however often the kernel takes only a part.
  package func write(_ bytes: [UInt8]) throws(Errno) {
    try bytes.withUnsafeBufferPointer { buffer throws(Errno) in
      try write(UnsafeRawBufferPointer(buffer))
    }
  }

  /// Facts about the open file (`fstat`).
  package func status() throws(Errno) -> stat {
    var status = stat()
    _ = try Self.retrying { Int(fstat(number, &status)) }
    return status
  }

  /// Returns once the file's bytes, or the folder's names, would survive a power cut (`fsync`).
  package func synchronize() throws(Errno) {
    _ = try Self.retrying { Int(fsync(number)) }
  }

  /// Calls a system call until no signal interrupts it.
  ///
  /// - Returns: Its result, which is not negative.
  package static func retrying(_ call: () -> Int) throws(Errno) -> Int {
    while true {
      let result = call()
      if result >= 0 { return result }
      if errno != EINTR { throw Errno.current }
    }
  }

  /// The capacity of a pipe (pipe(7)).
  private static let pieceSize = 65_536
}

/// The names in a folder, as the kernel has them: they need not be text.
package struct FolderListing {
  /// Each ends with NUL; without `.` and `..`.
  package private(set) var names: [[CChar]] = []

  /// Reads a folder; one that was removed meanwhile is empty.
  package init(_ folder: FileDescriptor) throws(Errno) {
    let again = openat(folder.number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    if again < 0, errno == ENOENT { return }
    guard again >= 0, let stream = fdopendir(again) else { throw Errno.current }
    defer { closedir(stream) }
    errno = 0
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { start in
          Array(UnsafeBufferPointer(start: start, count: strlen(start) + 1))
        }
      }
      if name != [46, 0], name != [46, 46, 0] { names.append(name) }
      errno = 0
    }
    guard errno == 0 else { throw Errno.current }
  }

  /// The names that are text in the folder at `path`; none if it cannot be read.
  package static func texts(in path: String) -> [String] {
    guard let folder = try? FileDescriptor(path, O_RDONLY | O_DIRECTORY),
      let listing = try? FolderListing(folder)
    else { return [] }
    return listing.names.compactMap {
      String(validating: $0.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
  }
}
