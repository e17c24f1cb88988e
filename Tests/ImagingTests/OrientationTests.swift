import Testing

import MediaTypes
@testable import Imaging

@Suite struct OrientationTests {
  private static let colours = [
    "red": [255, 0, 0], "green": [0, 200, 0], "blue": [0, 0, 255], "white": [255, 255, 255],
  ]

  /// The corners that row 0 and column 0 of the stored picture show (EXIF 2.32, tag 274): the colours of
  /// the stored picture's corners, read like text, for an upright one of red, green, blue, white.
  private static let stored: [Orientation: [String]] = [
    .upright: ["red", "green", "blue", "white"],
    .mirrored: ["green", "red", "white", "blue"],
    .upsideDown: ["white", "blue", "green", "red"],
    .flipped: ["blue", "white", "red", "green"],
    .transposed: ["red", "blue", "green", "white"],
    .clockwise: ["green", "white", "red", "blue"],
    .transversed: ["white", "green", "blue", "red"],
    .counterclockwise: ["blue", "red", "white", "green"],
  ]

  /// A picture stored that way, whose upright size is the one given.
  private static func canvas(_ orientation: Orientation, _ upright: PixelSize) -> Canvas {
    let size = orientation.isTransposing ? upright.transposed : upright
    let corners = (stored[orientation] ?? []).map { colours[$0] ?? [] }
    return Canvas(size: size) { x, y in
      let colour = corners[(x * 2 < size.width ? 0 : 1) + (y * 2 < size.height ? 0 : 2)]
      return (colour[0], colour[1], colour[2], 255)
    }
  }

  private static func isUpright(_ pixels: Decoded) -> Bool {
    let (right, bottom) = (pixels.size.width * 3 / 4, pixels.size.height * 3 / 4)
    let (left, top) = (pixels.size.width / 4, pixels.size.height / 4)
    let seen = [pixels[left, top], pixels[right, top], pixels[left, bottom], pixels[right, bottom]]
    let wanted = ["red", "green", "blue", "white"].map { colours[$0] ?? [] }
    return zip(seen, wanted).allSatisfy { pair in
      zip(pair.0, pair.1).allSatisfy { abs($0 - $1) < 12 }
    }
  }

  @Test(arguments: Orientation.allCases)
  func `a JPEG stands upright and its size is the upright one`(orientation: Orientation) throws {
    let stored = try Self.canvas(orientation, PixelSize(240, 160)).jpeg()
    let source = Surgery.jpeg(stored, turned: orientation)
    let rendition = try PictureRenderer.render(source, ("width", "119"))
    #expect(rendition.size == PixelSize(119, 79))
    #expect(Self.isUpright(try Decoded(rendition.encoded)))
    #expect(!rendition.encoded.contains("Exif"))
  }

  @Test(arguments: Orientation.allCases)
  func `a PNG stands upright`(orientation: Orientation) throws {
    let stored = try Self.canvas(orientation, PixelSize(240, 160)).png()
    let source = Surgery.png(stored, adding: "eXIf", Exif.tiff(orientation))
    let rendition = try PictureRenderer.render(source, ("width", "120"))
    #expect(rendition.size == PixelSize(120, 80))
    #expect(Self.isUpright(try Decoded(rendition.encoded)))
  }

  @Test(arguments: Orientation.allCases)
  func `a crop is cut from the upright picture`(orientation: Orientation) throws {
    let stored = try Self.canvas(orientation, PixelSize(240, 160)).jpeg()
    let rendition = try PictureRenderer.render(
      Surgery.jpeg(stored, turned: orientation), ("width", "40"), ("height", "40"),
      ("fit", "cover"), ("focus", "0,0"))
    let pixels = try Decoded(rendition.encoded)
    #expect(pixels[5, 5][0] > 240 && pixels[5, 5][1] < 15)
  }

  @Test(arguments: Orientation.allCases)
  func `colours lie over the brightness they belong to whatever the turn`(orientation: Orientation)
    throws
  {
    // a red line on white, three pixels wide at an odd place: chroma a pixel off would show beside it
    let upright = Canvas(size: PixelSize(201, 201)) { x, y in
      abs(x - 60) < 12 || abs(y - 90) < 12 ? (220, 0, 0, 255) : (255, 255, 255, 255)
    }
    let plane = upright.plane()
    let inverse: [Orientation: Orientation] = [
      .clockwise: .counterclockwise, .counterclockwise: .clockwise,
    ]
    let turned = plane.turned(inverse[orientation] ?? orientation)
    let source = try Encoder.jpeg(Raster(planes: [turned], model: .rgb), quality: 98).bytes
    let rendition = try PictureRenderer.render(
      Surgery.jpeg(source, turned: orientation), ("width", "67"))
    let straight = try PictureRenderer.render(upright.jpeg(quality: 98), ("width", "67"))
    let difference = try Decoded(rendition.encoded).largestDifference(
      from: Decoded(straight.encoded))
    #expect(difference < 48)
  }
}

extension [UInt8] {
  func contains(_ text: String) -> Bool {
    let wanted = Array(text.utf8)
    return indices.contains { self[$0...].starts(with: wanted) }
  }
}
