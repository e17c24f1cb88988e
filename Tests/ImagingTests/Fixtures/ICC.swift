@testable import Imaging

/// Matrix profiles (ICC.1:2010 8.4.3) with the primaries and the curve of sRGB.
enum ICC {
  /// With `swapping`, what is called red is blue.
  static func profile(swapping: Bool) -> [UInt8] {
    let red: [Int32] = [28578, 14581, 912]
    let green: [Int32] = [25241, 46981, 6362]
    let blue: [Int32] = [9376, 3974, 46792]
    let tags: [(String, [UInt8])] = [
      ("desc", Array("desc\0\0\0\0\0\0\0\u{5}test\0".utf8) + [UInt8](repeating: 0, count: 79)),
      ("cprt", Array("text\0\0\0\0none\0\0\0\0".utf8)),
      ("wtpt", xyz([63190, 65536, 54061])),
      ("rXYZ", xyz(swapping ? blue : red)), ("gXYZ", xyz(green)),
      ("bXYZ", xyz(swapping ? red : blue)),
      ("rTRC", curve), ("gTRC", curve), ("bTRC", curve),
    ]
    var table = bytes(UInt32(tags.count))
    var data: [UInt8] = []
    for (name, content) in tags {
      let padded = content + [UInt8](repeating: 0, count: -content.count & 3)
      table += Array(name.utf8) + bytes(UInt32(132 + tags.count * 12 + data.count))
      table += bytes(UInt32(content.count))
      data += padded
    }
    let size = 128 + table.count + data.count
    var header = bytes(UInt32(size)) + Array("    ".utf8) + [4, 0x20, 0, 0]
    header +=
      Array("mntrRGB XYZ ".utf8) + [7, 0xE8, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0] + Array("acsp".utf8)
    header += [UInt8](repeating: 0, count: 28)
    header += [0, 0, 0xF6, 0xD6, 0, 1, 0, 0, 0, 0, 0xD3, 0x2D]
    header += [UInt8](repeating: 0, count: 128 - header.count)
    return header + table + data
  }

  /// The content of an iCCP chunk, deflated as stored blocks (RFC 1950, RFC 1951 3.2.4).
  static func chunk(_ profile: [UInt8]) -> [UInt8] {
    let count = UInt16(profile.count)
    let stored =
      [1, UInt8(count & 255), UInt8(count >> 8), UInt8(~count & 255), UInt8(~count >> 8)] + profile
    var (a, b): (UInt32, UInt32) = (1, 0)
    for byte in profile {
      a = (a + UInt32(byte)) % 65521
      b = (b + a) % 65521
    }
    return Array("test\0\0".utf8) + [0x78, 0x01] + stored + bytes(b << 16 | a)
  }

  /// The curve of sRGB as a parametric one of type 3.
  private static let curve =
    Array("para\0\0\0\0".utf8) + [0, 3, 0, 0]
    + ColourSpace.Curve.sRGB.values.flatMap { bytes(UInt32($0 * 65536)) }

  private static func xyz(_ values: [Int32]) -> [UInt8] {
    Array("XYZ \0\0\0\0".utf8) + values.flatMap { bytes(UInt32(bitPattern: $0)) }
  }

  private static func bytes(_ value: UInt32) -> [UInt8] {
    withUnsafeBytes(of: value.bigEndian, Array.init)
  }
}

extension Surgery {
  /// A JPEG with a profile in one APP2 segment.
  static func jpeg(_ bytes: [UInt8], profile: [UInt8]) -> [UInt8] {
    jpeg(bytes, adding: 0xE2, Array("ICC_PROFILE\0".utf8) + [1, 1] + profile)
  }
}
