import Glibc

/// A marker segment of a JPEG (ITU-T T.81 B.1.1), or the entropy-coded data after a start of scan.
package struct JPEGSegment: Sendable {
  /// The second byte of the marker; 0 for entropy-coded data.
  package let marker: UInt8
  /// Where it is in the file, with its marker.
  package let range: Range<Int>
  /// Where its content is, after its length.
  package let content: Range<Int>
  /// Whether the file has all of it.
  package var isWhole = true

  /// The marker SOI.
  package static let start: UInt8 = 0xD8
  /// The marker EOI.
  package static let end: UInt8 = 0xD9
  /// The marker SOS.
  package static let scan: UInt8 = 0xDA
  /// The marker COM.
  package static let comment: UInt8 = 0xFE
  /// The marker APP0 to APP15.
  package static func application(_ number: UInt8) -> UInt8 { 0xE0 + number }

  /// Whether a marker has neither length nor content: TEM, RST0 to RST7, SOI and EOI.
  fileprivate static func isAlone(_ marker: UInt8) -> Bool {
    marker == 0x01 || isRestart(marker) || marker == start || marker == end
  }

  fileprivate static func isRestart(_ marker: UInt8) -> Bool { (0xD0...0xD7).contains(marker) }
}

/// The segments of a JPEG up to its end marker, or to where the file is no JPEG any more.
package struct JPEGSegments<Source: ByteSource>: Sequence, IteratorProtocol {
  private let source: Source
  private var position = 0
  private var isInScan = false

  package init(_ source: Source) { self.source = source }

  /// The next segment; the last one of a file that is cut short ends with the file.
  package mutating func next() -> JPEGSegment? {
    if isInScan { return codedData() }
    let start = position
    var head = source.octets(at: position, count: 4)
    while head[0] == 0xFF, head[1] == 0xFF {  // fill bytes
      position += 1
      head = source.octets(at: position, count: 4)
    }
    guard head[0] == 0xFF, let second = head[1], second != 0 else { return nil }
    let marker = UInt8(second)
    if JPEGSegment.isAlone(marker) {
      let end = position + 2
      position = marker == JPEGSegment.end ? source.size : end
      return JPEGSegment(marker: marker, range: start..<end, content: end..<end)
    }
    guard let length = head.big(at: 2, count: 2), length >= 2 else { return nil }
    let (content, end) = (position + 4, position + 2 + length)
    position = Swift.min(end, source.size)
    isInScan = marker == JPEGSegment.scan && end <= source.size
    return JPEGSegment(
      marker: marker, range: start..<position, content: content..<position,
      isWhole: end <= source.size)
  }

  /// The bytes up to the next marker other than a restart; FF 00 is a coded FF.
  private mutating func codedData() -> JPEGSegment {
    let start = position
    isInScan = false
    while position < source.size {
      let block = source.read(at: position, count: 1 << 16)
      let end: Int? = block.withUnsafeBytes { bytes in
        guard let start = bytes.baseAddress, bytes.count > 1 else { return nil }
        var index = 0
        while let found = memchr(start + index, 0xFF, bytes.count - 1 - index) {
          index = UnsafeRawPointer(found) - start
          let code = bytes[index + 1]
          if code != 0, code != 0xFF, !JPEGSegment.isRestart(code) { return index }
          index += 1
        }
        return nil
      }
      if let end {
        position += end
        break
      }
      // The last byte is read again with what follows it.
      let isLast = block.isEmpty || position + block.count >= source.size
      position = isLast ? source.size : position + block.count - 1
    }
    return JPEGSegment(marker: 0, range: start..<position, content: start..<position)
  }
}
