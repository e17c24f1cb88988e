/// Reads and writes chunks of a PNG (third edition, 5.3).
package enum PNGChunk {
  /// A chunk with its length and CRC.
  package static func bytes(_ type: String, _ content: [UInt8]) -> [UInt8] {
    let body = Array(type.utf8) + content
    return bigEndian(content.count) + body + bigEndian(Int(crc(body)))
  }

  /// A number of 32 bits.
  package static func bigEndian(_ value: Int) -> [UInt8] {
    withUnsafeBytes(of: UInt32(truncatingIfNeeded: value).bigEndian, Array.init)
  }

  /// Whether a chunk ends with the CRC of its type and content; browsers skip many chunks that do not.
  package static func hasValidCRC(_ chunk: Range<Int>, in source: some ByteSource) -> Bool {
    let bytes = source.bytes(chunk)
    guard bytes.count >= 12 else { return false }
    return bigEndian(Int(crc(bytes[4..<bytes.count - 4]))).elementsEqual(bytes.suffix(4))
  }

  /// The checksum of a chunk's type and content (ISO 3309, PNG third edition annex D).
  private static func crc(_ bytes: some Sequence<UInt8>) -> UInt32 {
    ~bytes.reduce(~0) { sum, byte in table[Int((sum ^ UInt32(byte)) & 255)] ^ sum >> 8 }
  }

  private static let table: [UInt32] = (0..<256).map { index in
    (0..<8).reduce(UInt32(index)) { value, _ in
      value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1
    }
  }
}
