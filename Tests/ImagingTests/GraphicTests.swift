import Testing

import MediaTypes
@testable import Imaging

/// Codes, logos and other flat pictures: what takes few bytes is not worth less.
@Suite struct GraphicTests {
  private static let text =
    "https://example.org/tickets?id=" + String(repeating: "4f9c2a", count: 15)

  private static let bilevel = "-define png:color-type=0 -define png:bit-depth=1 png:-"

  /// A QR code of 65 by 65 modules of that many pixels, its quiet zone included, by qrencode.
  private static func code(_ module: Int, _ flags: String, as kind: String) throws -> [UInt8] {
    try Tool.run(
      "qrencode -s \(module) -m 4 -v 10 -l M \(flags) -o code.png '\(text)' && convert code.png \(kind)"
    )
  }

  /// What zbarimg reads in a rendition that is `width` wide.
  private static func reading(
    of code: [UInt8], _ option: (String, String), width: Int
  ) throws -> Bool {
    let rendition = try PictureRenderer.render(code, option)
    #expect(rendition.size == PixelSize(width, width), "\(option)")
    let file = rendition.bytes(from: SourceFile(bytes: code))
    return try Tool.text("zbarimg --raw -q in", file) == text + "\n"
  }

  @Test func `a QR code can be read at every width and in every profile`() throws {
    let code = try Self.code(20, "", as: Self.bilevel)
    #expect(code[24] == 1 && code[25] == 0 && code.count < 6000)
    for width in [160, 240, 320, 400, 480, 512, 640, 750, 828, 1080, 1170] {
      #expect(try Self.reading(of: code, ("width", "\(width)"), width: width), "\(width)")
    }
    for profile in DeviceProfile.allCases {
      let width = min(1300, profile.box.width)
      #expect(try Self.reading(of: code, ("profile", profile.rawValue), width: width), "\(profile)")
    }
  }

  @Test(arguments: [
    ("", "PNG8:-"), ("", "PNG24:-"), ("", "-define png:color-type=4 png:-"), ("", "PNG32:-"),
    ("--foreground=0B3D91", "PNG24:-"), ("", "gif:-"),
  ])
  func `however a QR code is stored, it can be read small`(flags: String, kind: String) throws {
    let code = try Self.code(7, flags, as: kind)
    for width in [160, 240, 400] {
      #expect(try Self.reading(of: code, ("width", "\(width)"), width: width), "\(width)")
    }
  }

  @Test func `a code of few bytes is sent at the size asked for, in grey and few bytes`() throws {
    let code = try Self.code(20, "", as: Self.bilevel)
    for width in [400, 800] {
      let made = try PictureRenderer.render(code, ("width", "\(width)"))
      #expect(made.size.width == width && made.mediaType == "image/png")
      #expect(try Decoded(made.encoded).model == .grey)
      #expect(made.byteCount * 12 < width * width)
    }
    let half = try PictureRenderer.render(code, ("width", "650")).encoded
    #expect(half[24] == 1 && half[25] == 0 && half.count < code.count)  // modules of ten pixels
  }

  @Test(arguments: [300, 400, 777])
  func `what is flat in a logo stays exactly its colour beside every edge`(width: Int) throws {
    let logo = Canvas(size: PixelSize(900, 900)) { x, y in
      let (dx, dy) = (x - 450, y - 450)
      let square = dx * dx + dy * dy
      if square > 400 * 400 { return (0, 0, 0, 0) }
      return abs(dx) < 150 && abs(dy) < 200 ? (255, 214, 10, 255) : (11, 61, 145, 255)
    }
    let pixels = try Decoded(
      PictureRenderer.render(logo.png(alpha: true), ("width", "\(width)")).encoded)
    #expect(pixels.size.width == width)
    let step = 900 / Double(width)
    func corners(_ at: Int) -> [Int] {
      [Int(Double(at) * step), min(899, Int(Double(at + 1) * step - 1e-9))]
    }
    for y in 0..<width {
      for x in 0..<width {
        let under = corners(y).flatMap { row in corners(x).map { logo.pixel($0, row) } }
        guard under.allSatisfy({ $0 == under[0] }) else { continue }
        let (red, green, blue, alpha) = under[0]
        guard pixels[x, y] != [red, green, blue, alpha] else { continue }
        Issue.record("\(pixels[x, y]) at \(x), \(y)")
        return
      }
    }
  }

  @Test func `soft grey over nothing keeps its size and every alpha`() throws {
    let shadow = Canvas(size: PixelSize(600, 600)) { x, y in
      (x * 255 / 599, x * 255 / 599, x * 255 / 599, y * 255 / 599)
    }
    let source = try shadow.png(alpha: true)
    #expect(source[25] == 4, "not grey and alpha")
    let made = try PictureRenderer.render(source, ("width", "300")).encoded
    #expect(made[25] == 4)
    let pixels = try Decoded(made)
    #expect(pixels.size == PixelSize(300, 300))
    for y in 0..<300 {
      let wanted = (shadow.pixel(150, 2 * y).alpha + shadow.pixel(150, 2 * y + 1).alpha) / 2
      #expect(abs(pixels[75, y][3] - wanted) <= 1)
    }
  }

  @Test(arguments: [
    ([0, 255], UInt8(0), UInt8(1)), ([0, 85, 170, 255], 0, 2), ([0, 17, 34, 51, 255], 0, 4),
    ([10, 200], 3, 1), ([1, 2, 3], 3, 2), (Array(0..<9), 3, 4), (Array(0..<200), 0, 8),
  ])
  func `greys are written in the fewest bits that hold them exactly`(
    greys: [Int], type: UInt8, depth: UInt8
  ) throws {
    let canvas = Canvas(size: PixelSize(29, 13)) { x, y in
      let grey = greys[(x + y * 29) % greys.count]
      return (grey, grey, grey, 255)
    }
    for channels in [1, 3] {
      let raster = Raster(
        planes: [canvas.plane(channels: channels)], model: channels == 1 ? .grey : .rgb)
      let bytes = try Encoder.png(raster).bytes
      #expect(bytes[24] == depth && bytes[25] == type)
      try Self.expect(canvas, in: bytes)
    }
  }

  @Test(arguments: [(2, UInt8(1)), (3, 2), (4, 2), (5, 4), (16, 4), (17, 8), (256, 8)])
  func `colours are numbered in the fewest bits`(count: Int, depth: UInt8) throws {
    let canvas = Canvas(size: PixelSize(29, 13)) { x, y in
      let number = (x + y * 29) % count
      return (number, 255 - number, number / 2, number % 3 == 0 ? 255 : 100)
    }
    let raster = Raster(planes: [canvas.plane(channels: 4)], model: .rgba)
    let bytes = try Encoder.png(raster).bytes
    #expect(bytes[24] == depth && bytes[25] == 3)
    try Self.expect(canvas, in: bytes)
  }

  /// What another program reads is what was drawn.
  private static func expect(_ canvas: Canvas, in bytes: [UInt8]) throws {
    let read = try #require(PortableMap(Tool.run("pngtopam -alphapam", bytes)))
    #expect(read.size == canvas.size)
    for y in 0..<canvas.size.height {
      for x in 0..<canvas.size.width {
        let (red, green, blue, alpha) = canvas.pixel(x, y)
        #expect(read.colour(x, y) == [red, green, blue, alpha])
      }
    }
  }

  @Test(arguments: [30, 60, 75])
  func `a JPEG made of a poor one has the size asked for and the usual quality`(quality: Int) throws
  {
    let source = try Tool.run(
      "cjpeg -quality \(quality)", PortableMap.bytes(of: Canvas.scene(600, 400)))
    let made = try PictureRenderer.render(source, ("width", "590"))
    #expect(made.size == PixelSize(590, 393))
    let kept = String(
      decoding: try Tool.run("identify -format %Q jpg:-", made.encoded), as: UTF8.self)
    #expect(Int(kept) == 82, "the source's \(source.count) bytes are no limit")
  }
}
