import MediaTypes
@testable import Imaging

/// PNGs with frames of plain colours, put together chunk by chunk.
struct PNGFrames {
  /// The type of a chunk and its content.
  typealias Part = (type: String, content: [UInt8])

  static let size = PixelSize(32, 32)
  static let red: [UInt8] = [220, 20, 20]
  static let green: [UInt8] = [20, 200, 20]
  static let blue: [UInt8] = [20, 20, 220]

  static let header: Part = ("IHDR", numbers(size.width, size.height) + [8, 2, 0, 0, 0])
  static let end: Part = ("IEND", [])

  /// An acTL chunk, which plays for ever.
  static func announcement(_ frames: Int) -> Part { ("acTL", numbers(frames, 0)) }

  /// An fcTL chunk.
  static func control(
    _ number: Int, _ size: PixelSize = size, x: Int = 0, y: Int = 0, disposal: UInt8 = 0,
    blending: UInt8 = 0
  ) -> Part {
    let place = numbers(number, size.width, size.height, x, y)
    return ("fcTL", place + [0, 1, 0, 5, disposal, blending])
  }

  /// An IDAT chunk.
  static func picture(_ colour: [UInt8]) -> Part { ("IDAT", pixels(colour, size)) }

  /// An fdAT chunk.
  static func frame(_ number: Int, _ colour: [UInt8], _ size: PixelSize = size) -> Part {
    ("fdAT", numbers(number) + pixels(colour, size))
  }

  /// The coded pixels of a frame.
  static func pixels(_ colour: [UInt8], _ size: PixelSize) -> [UInt8] {
    let row = [0] + Array(repeating: colour, count: size.width).flatMap(\.self)
    return RawPNG.deflated(Array(repeating: row, count: size.height).flatMap(\.self))
  }

  static func numbers(_ values: Int...) -> [UInt8] { values.flatMap(PNGChunk.bigEndian) }

  /// A file, whose chunk of a type has a wrong CRC.
  static func file(_ parts: [Part], wrongCRC: String? = nil) -> [UInt8] {
    var bytes: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    for part in parts {
      bytes += PNGChunk.bytes(part.type, part.content)
      if part.type == wrongCRC { bytes[bytes.count - 1] ^= 0xFF }
    }
    return bytes
  }

  /// Red, which is the PNG's own picture, and blue.
  static let two: [Part] = [
    header, announcement(2), control(0), picture(red), control(1), frame(2, blue), end,
  ]

  /// Green and blue, with a picture of its own that is red.
  static let twoBehindPicture: [Part] = [
    header, announcement(2), picture(red), control(0), frame(1, green), control(2), frame(3, blue),
    end,
  ]
}
