import Glibc
import Primitives

/// Bytes that can be read at any position, a few at a time: an array or an open file.
package protocol ByteSource: Sendable {
  /// The number of bytes.
  var size: Int { get }

  /// Reads `count` bytes; fewer, or none, where the source ends or cannot be read.
  func read(at offset: Int, count: Int) -> [UInt8]
}

extension ByteSource {
  /// Reads the part of a range that exists.
  package func bytes(_ range: Range<Int>) -> [UInt8] {
    read(at: range.lowerBound, count: range.count)
  }

  /// Reads the part of a range that exists, to look numbers up in it.
  package func octets(_ range: Range<Int>) -> Octets { Octets(bytes: bytes(range)) }

  func octets(at offset: Int, count: Int) -> Octets {
    Octets(bytes: read(at: offset, count: count))
  }
}

extension [UInt8]: ByteSource {
  /// The number of bytes.
  package var size: Int { count }

  /// Copies the bytes that exist in the range.
  package func read(at offset: Int, count: Int) -> [UInt8] {
    guard offset >= 0, offset < self.count, count > 0 else { return [] }
    return Self(self[offset..<offset + Swift.min(count, self.count - offset)])
  }
}

/// An open regular file, read by position (pread(2)).
package struct OpenFile: ByteSource {
  private let descriptor: FileDescriptor
  /// The file's size when it was opened.
  package let size: Int

  /// Opens a regular file; nil when there is none at the path or it cannot be opened.
  package init?(_ path: String) {
    guard let descriptor = try? FileDescriptor(path, O_RDONLY | O_NONBLOCK),
      let status = try? descriptor.status(), status.st_mode & S_IFMT == S_IFREG
    else { return nil }
    self.descriptor = descriptor
    size = status.st_size
  }

  /// Reads until the count or the end of the file is reached.
  package func read(at offset: Int, count: Int) -> [UInt8] {
    guard offset >= 0, offset < size, count > 0 else { return [] }
    let wanted = min(count, size - offset)
    return [UInt8](unsafeUninitializedCapacity: wanted) { buffer, filled in
      let bytes = UnsafeMutableRawBufferPointer(buffer)
      filled = 0
      while filled < wanted {
        let rest = UnsafeMutableRawBufferPointer(rebasing: bytes[filled..<wanted])
        let place = off_t(offset + filled)
        let count = try? FileDescriptor.retrying {
          pread(descriptor.number, rest.baseAddress, rest.count, place)
        }
        guard let count, count > 0 else { return }
        filled += count
      }
    }
  }
}

/// A few bytes and the numbers in them; what is past the end is nil, never a trap.
package struct Octets: Sendable {
  /// The bytes in order.
  package let bytes: [UInt8]

  package init(bytes: [UInt8]) { self.bytes = bytes }

  /// The number of bytes.
  package var count: Int { bytes.count }

  /// The byte at an offset.
  package subscript(offset: Int) -> Int? {
    bytes.indices.contains(offset) ? Int(bytes[offset]) : nil
  }

  /// A big-endian number of up to eight bytes; nil when it does not fit an `Int`.
  package func big(at offset: Int, count: Int) -> Int? {
    part(at: offset, count: count).flatMap { Self.number($0) }
  }

  /// A little-endian number of up to eight bytes; nil when it does not fit an `Int`.
  package func little(at offset: Int, count: Int) -> Int? {
    part(at: offset, count: count).flatMap { Self.number($0.reversed()) }
  }

  /// An IEEE 754 number of eight bytes, big-endian.
  func double(at offset: Int) -> Double? {
    guard let high = big(at: offset, count: 4), let low = big(at: offset + 4, count: 4) else {
      return nil
    }
    return Double(bitPattern: UInt64(high) << 32 | UInt64(low))
  }

  /// Whether the bytes at an offset are those of a text.
  package func has(_ text: StaticString, at offset: Int = 0) -> Bool {
    guard offset >= 0, bytes.count - offset >= text.utf8CodeUnitCount else { return false }
    return text.withUTF8Buffer { bytes[offset...].starts(with: $0) }
  }

  /// A four-character code: the name of a chunk, box or codec.
  package func code(at offset: Int) -> String? {
    guard offset >= 0, offset <= bytes.count - 4 else { return nil }
    return String(decoding: bytes[offset..<offset + 4], as: UTF8.self)
  }

  private func part(at offset: Int, count: Int) -> ArraySlice<UInt8>? {
    guard offset >= 0, (1...8).contains(count), offset <= bytes.count - count else { return nil }
    return bytes[offset..<offset + count]
  }

  private static func number(_ bytes: some Sequence<UInt8>) -> Int? {
    Int(exactly: bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
  }
}
