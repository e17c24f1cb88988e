import Testing

import MediaTypes
@testable import Imaging

/// JPEGs of four inks with every form of Adobe's marker, beside what Pillow and ImageMagick show.
///
/// Chromium and Firefox show the same: inks are inverted whether the file has the marker or not.
@Suite struct InksTests {
  private static let inks = [
    [255, 0, 0, 0], [0, 255, 0, 0], [0, 0, 255, 0], [0, 0, 0, 255], [0, 0, 0, 0], [128, 0, 64, 30],
  ]

  /// A JPEG whose samples are inverted or plain, with a transform in Adobe's marker or without one.
  private static func jpeg(_ transform: UInt8?, isPlain: Bool) throws -> [UInt8] {
    var jpeg = try CMYK.jpeg(PixelSize(192, 32), hasMarker: transform != nil) { x, _ in
      inks[x / 32].map { isPlain ? 255 - $0 : $0 }
    }
    if let transform {
      let marker = try #require(
        JPEGSegments(SourceFile(bytes: jpeg)).first { $0.marker == JPEGSegment.application(14) })
      jpeg[marker.content.upperBound - 1] = transform
    }
    return jpeg
  }

  @Test(arguments: [nil, 0, 1, 2] as [UInt8?], [false, true])
  func `inks look as in other programs, with and without Adobe's marker`(
    transform: UInt8?, isPlain: Bool
  ) throws {
    let jpeg = try Self.jpeg(transform, isPlain: isPlain)
    let pillow = try Tool.run(
      "python -c 'from PIL import Image; import sys; "
        + "sys.stdout.buffer.write(Image.open(\"in\").convert(\"RGB\").tobytes())'", jpeg)
    let magick = try Tool.run("convert jpeg:in -colorspace sRGB -depth 8 rgb:-", jpeg)
    for linear in ["0", "1"] {
      let made = try Decoded(
        PictureRenderer.render(jpeg, ("width", "96"), ("linear", linear)).encoded)
      for wanted in [pillow, magick] {
        for patch in 0..<6 {
          let start = (16 * 192 + patch * 32 + 16) * 3
          for (seen, sample) in zip(made[patch * 16 + 8, 8], wanted[start..<start + 3]) {
            #expect(abs(seen - Int(sample)) <= 10, "patch \(patch), linear \(linear)")
          }
        }
      }
    }
  }

  @Test func `inks without the marker are cyan, magenta, yellow, black and white`() throws {
    let made = try Decoded(
      PictureRenderer.render(Self.jpeg(nil, isPlain: false), ("width", "96")).encoded)
    let wanted = [[0, 255, 255], [255, 0, 255], [255, 255, 0], [0, 0, 0], [255, 255, 255]]
    for (patch, colour) in wanted.enumerated() {
      for (seen, sample) in zip(made[patch * 16 + 8, 8], colour) {
        #expect(abs(seen - sample) <= 4, "patch \(patch)")
      }
    }
  }
}
