import FoundationEssentials
import Glibc
import Primitives

/// Writes an archive of files in the format `ustar` of POSIX.1-1988, which every tar reads, from its beginning to its end.
struct TarWriter {
  private let output: FileDescriptor
  /// The folder that all files are in.
  private let folder: String
  private let time: Int

  private static let blockSize = 512
  /// The most bytes of a file, by the digits of its size.
  private static let largestFile = 1 << 33 - 1

  /// Writes to a file; all names begin with `folder`, which has at most 155 bytes.
  init(to output: FileDescriptor, folder: String, time: Date) {
    (self.output, self.folder) = (output, folder)
    self.time = Int(time.timeIntervalSince1970)
  }

  /// Adds a file from memory; the name has at most 100 bytes.
  func add(_ name: String, _ bytes: [UInt8]) throws(Errno) {
    try output.write(head(name, size: bytes.count))
    try output.write(bytes)
    try pad(bytes.count)
  }

  /// Adds what a file has from its beginning, whose size does not change; the name has at most 100 bytes.
  func add(_ name: String, from file: FileDescriptor) throws(Errno) {
    let size = Int(try file.status().st_size)
    guard size <= Self.largestFile else { throw Errno(rawValue: EFBIG) }
    try output.write(head(name, size: size))
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
    defer { buffer.deallocate() }
    var offset = 0
    while offset < size {
      let wanted = Swift.min(buffer.count, size - offset)
      let count = try FileDescriptor.retrying {
        pread(file.number, buffer.baseAddress, wanted, offset)
      }
      // The header has the size: what comes next would be read as a part of this file.
      guard count > 0 else { throw Errno(rawValue: EIO) }
      try output.write(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      offset += count
    }
    try pad(size)
  }

  /// Ends the archive.
  func end() throws(Errno) { try output.write([UInt8](repeating: 0, count: 2 * Self.blockSize)) }

  private func pad(_ size: Int) throws(Errno) {
    let rest = size % Self.blockSize
    if rest > 0 { try output.write([UInt8](repeating: 0, count: Self.blockSize - rest)) }
  }

  /// The header of a regular file that only its owner may read.
  private func head(_ name: String, size: Int) -> [UInt8] {
    var head = [UInt8](repeating: 0, count: Self.blockSize)
    func put(_ text: String, at offset: Int) {
      head.replaceSubrange(offset..<offset + text.utf8.count, with: text.utf8)
    }
    func put(_ number: Int, at offset: Int, digits: Int) {
      let text = String(number, radix: 8)
      put(String(repeating: "0", count: Swift.max(0, digits - text.count)) + text, at: offset)
    }
    put(name, at: 0)
    put(0o600, at: 100, digits: 7)
    put(0, at: 108, digits: 7)
    put(0, at: 116, digits: 7)
    put(size, at: 124, digits: 11)
    put(time, at: 136, digits: 11)
    put("        0", at: 148)
    put("ustar", at: 257)
    put("00", at: 263)
    put(folder, at: 345)
    // Of all bytes, with spaces in the place of the sum itself.
    put(head.reduce(0) { $0 + Int($1) }, at: 148, digits: 6)
    head[154] = 0
    return head
  }
}
