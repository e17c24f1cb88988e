/// Bytes that can be read anywhere, a little at a time: an array or an open file.
package protocol ByteSource: Sendable {
  /// How many bytes there are.
  var size: Int { get }

  /// Reads at most so many bytes; fewer, or none, where the source ends or cannot be read.
  func read(at offset: Int, count: Int) -> [UInt8]
}

extension [UInt8]: ByteSource {
  /// How many bytes there are.
  package var size: Int { count }

  /// Copies the bytes that lie in the range.
  package func read(at offset: Int, count: Int) -> [UInt8] {
    guard offset >= 0, offset < self.count, count > 0 else { return [] }
    return Self(self[offset..<offset + Swift.min(count, self.count - offset)])
  }
}
