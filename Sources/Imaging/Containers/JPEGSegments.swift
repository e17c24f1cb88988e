/// A marker segment of a JPEG (ITU-T T.81 B.1.1), or the coded data behind a start of scan.
struct JPEGSegment {
  /// The marker's second byte; 0 for coded data.
  let marker: UInt8
  /// Where it lies in the file, marker included.
  let range: Range<Int>
  /// Where its content lies, length excluded.
  let content: Range<Int>

  static let start: UInt8 = 0xD8
  static let end: UInt8 = 0xD9
  static let scan: UInt8 = 0xDA
  static let comment: UInt8 = 0xFE
  static func application(_ number: UInt8) -> UInt8 { 0xE0 + number }
}

/// Walks the segments of a JPEG up to its end marker, or to where it stops making sense.
struct JPEGSegments: Sequence, IteratorProtocol {
  private let source: SourceFile
  private var position = 0
  private var isInScan = false

  init(_ source: SourceFile) {
    self.source = source
  }

  mutating func next() -> JPEGSegment? {
    if isInScan { return codedData() }
    let start = position
    var head = source.bytes(start..<start + 4)
    while head.count >= 2, head[0] == 0xFF, head[1] == 0xFF {  // fill bytes
      position += 1
      head = source.bytes(position..<position + 4)
    }
    guard head.count >= 2, head[0] == 0xFF, head[1] != 0 else { return nil }
    let marker = head[1]
    if marker == JPEGSegment.start || marker == JPEGSegment.end || (0xD0...0xD7).contains(marker) {
      let end = position + 2
      position = marker == JPEGSegment.end ? source.size : end
      return JPEGSegment(marker: marker, range: start..<end, content: end..<end)
    }
    guard head.count == 4 else { return nil }
    let length = Int(head.bigEndian16(at: 2))
    let end = position + 2 + length
    guard length >= 2, end <= source.size else { return nil }
    isInScan = marker == JPEGSegment.scan
    defer { position = end }
    return JPEGSegment(marker: marker, range: start..<end, content: position + 4..<end)
  }

  /// The bytes up to the next marker that is neither a stuffed FF nor a restart.
  private mutating func codedData() -> JPEGSegment {
    let start = position
    isInScan = false
    source.withBytes { bytes in
      while position < bytes.count {
        if bytes[position] == 0xFF, position + 1 < bytes.count {
          let code = bytes[position + 1]
          if code != 0, code != 0xFF, !(0xD0...0xD7).contains(code) { return }
        }
        position += 1
      }
    }
    return JPEGSegment(marker: 0, range: start..<position, content: start..<position)
  }
}
