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

  // MARK: - Forms of EXIF data

  private typealias Form = (what: String, parts: [[UInt8]], turn: Orientation)

  private static func form(
    _ what: String, _ turn: Orientation, _ data: EXIF..., change: (inout EXIF) -> Void = { _ in }
  ) -> Form {
    let changed = data.map { exif in
      var exif = exif
      change(&exif)
      return exif.segment
    }
    return (what, changed, turn)
  }

  private static let six = EXIF(.init(value: 6))
  private static let upright = EXIF(.init(value: 1))

  /// Turned as Chromium 156 and Firefox 153 turn them; where these differ, as Chromium does.
  private static let forms: [Form] = [
    form("little-endian", .clockwise, six),
    form("big-endian", .clockwise, six) { $0.isLittle = false },
    form("LONG", .upright, EXIF(.init(type: 4, value: 6))),
    form("LONG, big-endian", .upright, EXIF(.init(type: 4, value: 6))) { $0.isLittle = false },
    form("BYTE", .upright, EXIF(.init(type: 1, value: 6))),
    form("two values", .upright, EXIF(.init(count: 2, value: 6))),
    form("no value", .upright, EXIF(.init(count: 0, value: 6))),
    form("0", .upright, EXIF(.init(value: 0))), form("9", .upright, EXIF(.init(value: 9))),
    form("262, whose lower byte is 6", .upright, EXIF(.init(value: 262))),
    form("6 and something behind it", .clockwise, EXIF(.init(value: 6 | 5 << 16))),
    form("only in the directory of the thumbnail", .upright, EXIF()) {
      $0.second = [.init(value: 6)]
    },
    form("another one in the directory of the thumbnail", .upright, upright) {
      $0.second = [.init(value: 6)]
    },
    form("behind other tags", .clockwise, EXIF(.resolution, .init(value: 6))),
    form("twice in a directory", .clockwise, EXIF(.init(value: 6), .init(value: 1))),
    form("invalid, then valid", .clockwise, EXIF(.init(value: 9), .init(value: 6))),
    form("more entries announced", .clockwise, six) { $0.announced = 60_000 },
    form("fewer entries announced", .upright, EXIF(.resolution, .init(value: 6))) {
      $0.announced = 1
    },
    form("a gap in front of the directory", .clockwise, six) { $0.gap = 7 },
    form("no TIFF", .upright, six) { $0.magic = 43 },
    form("no end", .clockwise, six) { $0.missing = 4 },
    form("an entry cut short", .upright, six) { $0.missing = 5 },
    form("two parts, 6 first", .clockwise, six, upright),
    form("two parts, 1 first", .upright, upright, six),
    form("two parts, nothing in the first", .upright, EXIF(.resolution), six),
    (
      "nothing at all in the first of two", [Array("Exif\0\0".utf8), six.segment], .clockwise
    ),
    ("another mark", [Array("exif\0\0".utf8) + six.tiff], .upright),
    (
      "only in XMP",
      [Array("http://ns.adobe.com/xap/1.0/\0<x tiff:Orientation=\"6\"/>".utf8)], .upright
    ),
  ]

  /// Checks that renditions, facts and original agree, and that the original says it as simply as possible.
  private static func check(_ bytes: [UInt8], _ turn: Orientation, _ what: String) throws {
    let source = SourceFile(bytes: bytes)
    let upright = turn.applied(to: PixelSize(90, 60))
    let small = try PictureRenderer.render(bytes, ("width", "30"))
    let height = (30 * upright.height + upright.width / 2) / upright.width
    #expect(try Decoded(small.encoded).size == PixelSize(30, height), "\(what)")
    #expect(try Facts(source).size == upright, "\(what)")
    #expect(PixelSize.read(bytes) == upright, "\(what)")
    let original = try PictureRenderer.render(bytes)
    #expect(original.size == upright, "\(what)")
    let sent = SourceFile(bytes: original.bytes(from: source))
    let kind = try PictureKind(sent)
    let part = kind == .png ? Exif.Part(png: sent) : Exif.Part(jpeg: sent)
    #expect(part?.orientation ?? .upright == turn, "\(what)")
    #expect(part?.isPlain ?? true, "\(what)")
    #expect(CleanCopy(sent, kind: kind).removed.isEmpty, "\(what)")
  }

  @Test func `a JPEG and its renditions stand as browsers show it, whatever form says so`() throws {
    let plain = try Canvas.scene(90, 60).jpeg()
    let segments = Array(JPEGSegments(SourceFile(bytes: plain)))
    let scan = try #require(segments.first { $0.marker == JPEGSegment.scan }).range.lowerBound
    for form in Self.forms {
      let parts = form.parts.flatMap { content -> [UInt8] in
        [0xFF, 0xE1, 0, UInt8(content.count + 2)] + content
      }
      try Self.check(plain.prefix(2) + parts + plain.dropFirst(2), form.turn, form.what)
      try Self.check(plain.prefix(scan) + parts + plain.dropFirst(scan), form.turn, form.what)
      try Self.check(plain.dropLast(2) + parts + [0xFF, 0xD9], .upright, form.what)
    }
  }

  @Test func `a PNG and its renditions stand as browsers show it, whatever form says so`() throws {
    let plain = try Canvas.scene(90, 60).png()
    for form in Self.forms where form.parts.allSatisfy({ $0.starts(with: "Exif\0\0".utf8) }) {
      let isEmpty = form.parts[0].count == 6
      let parts = form.parts.flatMap { PNGChunk.bytes("eXIf", Array($0.dropFirst(6))) }
      // Other than in a JPEG, the first one counts even if there is nothing in it.
      try Self.check(
        plain.prefix(33) + parts + plain.dropFirst(33), isEmpty ? .upright : form.turn, form.what)
      try Self.check(plain.dropLast(12) + parts + plain.suffix(12), .upright, form.what)
    }
    let marked = PNGChunk.bytes("eXIf", Self.six.segment)
    try Self.check(plain.prefix(33) + marked + plain.dropFirst(33), .upright, "as in a JPEG")
    var damaged = PNGChunk.bytes("eXIf", Self.upright.tiff)
    damaged[damaged.count - 1] ^= 1
    let valid = PNGChunk.bytes("eXIf", Self.six.tiff)
    try Self.check(
      plain.prefix(33) + damaged + valid + plain.dropFirst(33), .clockwise, "a wrong checksum")
    let text = PNGChunk.bytes("zTXt", Array("Raw profile type exif\0\0".utf8) + Self.six.tiff)
    try Self.check(plain.prefix(33) + text + plain.dropFirst(33), .upright, "text")
  }
}

extension [UInt8] {
  func contains(_ text: String) -> Bool {
    let wanted = Array(text.utf8)
    return indices.contains { self[$0...].starts(with: wanted) }
  }
}
