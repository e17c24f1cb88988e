import Glibc

/// A stretch of a source that moves along with what is read, so that most steps need no read.
struct ByteWindow<Source: ByteSource> {
  let source: Source
  private(set) var octets = Octets(bytes: [])
  private var start = 0

  /// Bytes of a stretch; more than any frame header, Ogg page or number needs at once.
  private static var length: Int { 1 << 17 }

  init(_ source: Source) { self.source = source }

  /// The place in `octets` of an offset, with `count` bytes behind it as far as the source has them.
  mutating func place(of offset: Int, count: Int) -> Int {
    let end = start + octets.count
    let isInside = offset >= start && offset <= end && (offset + count <= end || end >= source.size)
    if !isInside {
      start = offset
      octets = source.octets(at: offset, count: max(count, Self.length))
    }
    return offset - start
  }

  /// The offset of the first such byte at or behind an offset; nil when there is none.
  mutating func first(_ byte: UInt8, from offset: Int) -> Int? {
    var offset = offset
    while offset < source.size {
      let place = place(of: offset, count: 1)
      let count = octets.count - place
      guard count > 0 else { return nil }
      let found = octets.bytes.withUnsafeBytes { bytes -> Int? in
        guard let base = bytes.baseAddress, let hit = memchr(base + place, Int32(byte), count)
        else { return nil }
        return UnsafeRawPointer(hit) - base
      }
      if let found { return start + found }
      offset += count
    }
    return nil
  }
}

/// A part of a source that is read as a source of its own.
struct ByteRange<Source: ByteSource>: ByteSource {
  let source: Source
  let range: Range<Int>

  /// The part that the source has.
  init(_ source: Source, _ range: Range<Int>) {
    (self.source, self.range) = (source, range.clamped(to: 0..<source.size))
  }

  var size: Int { range.count }

  func read(at offset: Int, count: Int) -> [UInt8] {
    guard offset >= 0, offset < size, count > 0 else { return [] }
    return source.read(at: range.lowerBound + offset, count: min(count, size - offset))
  }
}
