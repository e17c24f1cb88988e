/// Baseline JPEGs of plain blocks, of any size without an encoder: two lines of blocks are coded by hand and take
/// turns, each behind a restart marker.
enum BlockJPEG {
  /// 4:2:0; stripes of 16 rows, lighter and darker than the middle grey by 16.
  static func stripes(_ width: Int, _ height: Int) -> [UInt8] {
    let columns = (width + 15) / 16
    let lines = (height + 15) / 16
    var bytes: [UInt8] = [0xFF, 0xD8]
    bytes += segment(0xDB, [0] + [UInt8](repeating: 16, count: 64))
    bytes += segment(
      0xC0, [8] + two(height) + two(width) + [3, 1, 0x22, 0, 2, 0x11, 0, 3, 0x11, 0])
    // A mean that stays is coded as 0, one that changes by 8 to 15 as 10 and four bits, the end of a block as 0.
    bytes += segment(0xC4, [0x00, 1, 1] + [UInt8](repeating: 0, count: 14) + [0, 4])
    bytes += segment(0xC4, [0x10, 1] + [UInt8](repeating: 0, count: 15) + [0])
    bytes += segment(0xDD, two(columns))
    bytes += segment(0xDA, [3, 1, 0, 2, 0, 3, 0, 0, 63, 0])
    let coded = [line([1, 0, 1, 0, 0, 0, 0], columns), line([1, 0, 0, 1, 1, 1, 0], columns)]
    for index in 0..<lines {
      bytes += coded[index % 2]
      if index < lines - 1 { bytes += [0xFF, 0xD0 + UInt8(index % 8)] }
    }
    return bytes + [0xFF, 0xD9]
  }

  /// Six blocks a unit, of which only the first is not `00`; ones fill the last byte.
  private static func line(_ first: [UInt8], _ columns: Int) -> [UInt8] {
    let zeros = columns * 12 - 2
    var bits = first + [UInt8](repeating: 0, count: zeros)
    bits += [UInt8](repeating: 1, count: -bits.count & 7)
    return stride(from: 0, to: bits.count, by: 8).map { start in
      bits[start..<start + 8].reduce(0) { $0 << 1 | $1 }
    }
  }

  private static func segment(_ marker: UInt8, _ content: [UInt8]) -> [UInt8] {
    [0xFF, marker] + two(content.count + 2) + content
  }

  private static func two(_ value: Int) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 255)] }
}
