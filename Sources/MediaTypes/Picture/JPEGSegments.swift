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

  /// Whether a marker begins a segment: not a coded FF, a restart marker (RST0 to RST7), or a reserved one such as TEM.
  fileprivate static func begins(_ marker: UInt8) -> Bool {
    marker >= 0xC0 && marker < 0xFF && !(0xD0...0xD7).contains(marker)
  }
}

/// The segments of a JPEG up to its end marker, or to where the file ends.
///
/// Bytes between segments that belong to none are passed over, as libjpeg does and with it all viewers: cameras and
/// programs write some, for instance when a segment's length is too small.
package struct JPEGSegments<Source: ByteSource>: Sequence, IteratorProtocol {
  private let source: Source
  private var position = 0
  private var isInScan = false

  package init(_ source: Source) { self.source = source }

  /// The next segment; the last one of a file that is cut short ends with the file.
  package mutating func next() -> JPEGSegment? {
    let found = marker(from: position)
    if isInScan {
      // Whatever stands here may be coded data, also behind a restart marker.
      let range = position..<(found?.range.lowerBound ?? source.size)
      isInScan = false
      position = range.upperBound
      return JPEGSegment(marker: 0, range: range, content: range)
    }
    guard let (marker, range) = found else { return nil }
    if marker == JPEGSegment.start || marker == JPEGSegment.end {
      position = marker == JPEGSegment.end ? source.size : range.upperBound
      return JPEGSegment(
        marker: marker, range: range, content: range.upperBound..<range.upperBound)
    }
    let octets = source.octets(at: range.upperBound, count: 2)
    guard let length = octets.big(at: 0, count: 2) else { return nil }
    // A length counts its own two bytes, and libjpeg takes a smaller one for 2.
    let (content, end) = (range.upperBound + 2, range.upperBound + Swift.max(2, length))
    position = Swift.min(end, source.size)
    isInScan = marker == JPEGSegment.scan && end <= source.size
    return JPEGSegment(
      marker: marker, range: range.lowerBound..<position, content: content..<position,
      isWhole: end <= source.size)
  }

  /// The next marker that begins a segment, and where it is with the fill bytes before it.
  private func marker(from start: Int) -> (marker: UInt8, range: Range<Int>)? {
    var (offset, count) = (start, 4)
    var first: Int?  // of the FFs before a code
    while offset < source.size {
      let block = source.read(at: offset, count: count)
      if block.isEmpty { return nil }
      let found: (marker: UInt8, range: Range<Int>)? = block.withUnsafeBytes { bytes in
        guard let base = bytes.baseAddress else { return nil }
        var index = 0
        while index < bytes.count {
          let byte = bytes[index]
          if byte == 0xFF {
            first = first ?? offset + index
          } else if let fill = first {
            if JPEGSegment.begins(byte) { return (byte, fill..<offset + index + 1) }
            first = nil
          } else {
            guard let next = memchr(base + index, 0xFF, bytes.count - index) else { return nil }
            index = UnsafeRawPointer(next) - base
            continue
          }
          index += 1
        }
        return nil
      }
      if let found { return found }
      offset += block.count
      // Nearly always there is nothing to pass over.
      count = Swift.min(count * 8, 1 << 16)
    }
    return nil
  }
}
