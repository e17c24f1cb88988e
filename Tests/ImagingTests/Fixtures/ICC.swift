@testable import Imaging

/// Matrix profiles (ICC.1:2010 8.4.3) with the primaries and the curve of sRGB.
enum ICC {
  /// With `swapping`, what is called red is blue.
  static func profile(swapping: Bool) -> [UInt8] {
    let red: [Int32] = [28578, 14581, 912]
    let green: [Int32] = [25241, 46981, 6362]
    let blue: [Int32] = [9376, 3974, 46792]
    return matrix(swapping ? blue : red, green, swapping ? red : blue, curve)
  }

  /// Apple's Display P3.
  static let displayP3 = matrix(
    [33758, 15808, -69], [19135, 45367, 2745], [10296, 4363, 51384], curve)

  /// The primaries of sRGB and light as it is.
  static let linear = matrix(
    [28578, 14581, 912], [25241, 46981, 6362], [9376, 3974, 46792], exponent(1))

  private static func matrix(
    _ red: [Int32], _ green: [Int32], _ blue: [Int32], _ curve: [UInt8]
  ) -> [UInt8] {
    assembled(
      "RGB ",
      [
        ("rXYZ", xyz(red)), ("gXYZ", xyz(green)), ("bXYZ", xyz(blue)),
        ("rTRC", curve), ("gTRC", curve), ("bTRC", curve),
      ])
  }

  private static func exponent(_ gamma: Double) -> [UInt8] {
    Array("para\0\0\0\0\0\0\0\0".utf8) + bytes(UInt32(gamma * 65536))
  }

  /// A grey profile (ICC.1:2010 8.4.2) with a plain exponent.
  static func greyProfile(gamma: Double) -> [UInt8] {
    assembled("GRAY", [("kTRC", exponent(gamma))])
  }

  private static func assembled(_ space: String, _ own: [(String, [UInt8])]) -> [UInt8] {
    let tags: [(String, [UInt8])] =
      [
        ("desc", Array("desc\0\0\0\0\0\0\0\u{5}test\0".utf8) + [UInt8](repeating: 0, count: 79)),
        ("cprt", Array("text\0\0\0\0none\0\0\0\0".utf8)),
        ("wtpt", xyz([63190, 65536, 54061])),
      ] + own
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
      Array("mntr\(space)XYZ ".utf8) + [7, 0xE8, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0] + Array("acsp".utf8)
    header += [UInt8](repeating: 0, count: 28)
    header += [0, 0, 0xF6, 0xD6, 0, 1, 0, 0, 0, 0, 0xD3, 0x2D]
    header += [UInt8](repeating: 0, count: 128 - header.count)
    return header + table + data
  }

  /// The content of an iCCP chunk.
  static func chunk(_ profile: [UInt8]) -> [UInt8] {
    Array("test\0\0".utf8) + RawPNG.deflated(profile)
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
  /// A JPEG with a profile in as many APP2 segments as it takes.
  static func jpeg(_ bytes: [UInt8], profile: [UInt8]) -> [UInt8] {
    let starts = Array(stride(from: 0, to: profile.count, by: 65_000))
    return starts.enumerated().reversed().reduce(bytes) { bytes, part in
      let head = Array("ICC_PROFILE\0".utf8) + [UInt8(part.offset + 1), UInt8(starts.count)]
      return jpeg(bytes, adding: 0xE2, head + profile.dropFirst(part.element).prefix(65_000))
    }
  }
}
