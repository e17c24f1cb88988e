/// A few bytes and the numbers in them; everything past the end is nil, never a trap.
struct Octets {
  let bytes: [UInt8]

  var count: Int { bytes.count }

  subscript(offset: Int) -> Int? {
    bytes.indices.contains(offset) ? Int(bytes[offset]) : nil
  }

  /// A big-endian number of up to eight bytes; nil when it does not fit an `Int`.
  func big(at offset: Int, count: Int) -> Int? {
    number(bytes, at: offset, count: count)
  }

  /// A little-endian number of up to eight bytes; nil when it does not fit an `Int`.
  func little(at offset: Int, count: Int) -> Int? {
    number(bytes.reversed(), at: bytes.count - offset - count, count: count)
  }

  /// An IEEE 754 number of eight bytes, big-endian.
  func double(at offset: Int) -> Double? {
    guard let high = big(at: offset, count: 4), let low = big(at: offset + 4, count: 4) else {
      return nil
    }
    return Double(bitPattern: UInt64(high) << 32 | UInt64(low))
  }

  /// Whether the text's bytes stand at the offset.
  func has(_ text: StaticString, at offset: Int = 0) -> Bool {
    guard offset >= 0, bytes.count - offset >= text.utf8CodeUnitCount else { return false }
    return text.withUTF8Buffer { bytes[offset...].starts(with: $0) }
  }

  /// A four-character code, as chunks, boxes and codecs are named.
  func code(at offset: Int) -> String? {
    guard offset >= 0, offset <= bytes.count - 4 else { return nil }
    return String(decoding: bytes[offset..<offset + 4], as: UTF8.self)
  }

  private func number(_ bytes: some Collection<UInt8>, at offset: Int, count: Int) -> Int? {
    guard offset >= 0, (1...8).contains(count), offset <= bytes.count - count else { return nil }
    let value = bytes.dropFirst(offset).prefix(count).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return Int(exactly: value)
  }
}

extension ByteSource {
  /// Reads a few bytes to look numbers up in.
  func octets(at offset: Int, count: Int) -> Octets {
    Octets(bytes: read(at: offset, count: count))
  }
}
