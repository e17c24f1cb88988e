import MediaTypes
@testable import Imaging

/// A PNG of any colour type and depth, put together by hand and not compressed.
struct RawPNG {
  let bytes: [UInt8]

  /// Colour type 0 is grey, 2 RGB, 4 grey and alpha, 6 RGBA; `samples` gives the samples of the pixel at x, y.
  init(
    _ size: PixelSize, colourType: UInt8, depth: Int, _ samples: (Int, Int) -> [Int]
  ) {
    var rows: [UInt8] = []
    for y in 0..<size.height {
      rows.append(0)  // no filter
      var (bits, count) = (0, 0)
      for sample in (0..<size.width).flatMap({ samples($0, y) }) {
        bits = bits << depth | sample
        count += depth
        while count >= 8 {
          count -= 8
          rows.append(UInt8(bits >> count & 255))
        }
      }
      if count > 0 { rows.append(UInt8(bits << (8 - count) & 255)) }
    }
    let header =
      Self.bigEndian(UInt32(size.width)) + Self.bigEndian(UInt32(size.height))
      + [UInt8(depth), colourType, 0, 0, 0]
    bytes =
      [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + Self.chunk("IHDR", header)
      + Self.chunk("IDAT", Self.deflated(rows)) + Self.chunk("IEND", [])
  }

  /// A chunk with its length and CRC.
  static func chunk(_ type: String, _ content: [UInt8]) -> [UInt8] {
    PNGChunk.bytes(type, content)
  }

  /// Bytes in stored blocks (RFC 1950, RFC 1951 3.2.4).
  static func deflated(_ bytes: [UInt8]) -> [UInt8] {
    var result: [UInt8] = [0x78, 0x01]
    var rest = bytes[...]
    repeat {
      let block = rest.prefix(65535)
      rest = rest.dropFirst(block.count)
      let count = UInt16(block.count)
      result.append(rest.isEmpty ? 1 : 0)
      for half in [count, ~count] { result += [UInt8(half & 255), UInt8(half >> 8)] }
      result += block
    } while !rest.isEmpty
    var (a, b): (UInt32, UInt32) = (1, 0)
    for byte in bytes {
      a = (a + UInt32(byte)) % 65521
      b = (b + a) % 65521
    }
    return result + bigEndian(b << 16 | a)
  }

  private static func bigEndian(_ value: UInt32) -> [UInt8] {
    withUnsafeBytes(of: value.bigEndian, Array.init)
  }
}
