import Testing

import MediaTypes
@testable import Imaging

/// Nothing is sent that does not decode: what passes through shows what the source shows, or is coded anew.
@Suite struct PassThroughTests {
  private static let scene = Canvas.scene(64, 48)

  /// What Pillow, which shares no code with img, reads of the bytes sent: width and height.
  private static func seen(_ rendition: RenderedPicture, _ source: [UInt8]) throws -> String {
    try Tool.text(
      "python -c 'from PIL import Image; i = Image.open(\"in\"); i.load(); print(*i.size, end=\"\")'",
      rendition.bytes(from: SourceFile(bytes: source)))
  }

  /// Changes the last byte, which is of the CRC, of the first chunk of a type.
  private static func breakingCheck(of type: String, in png: [UInt8]) throws -> [UInt8] {
    let chunk = try #require(Chunks(png: SourceFile(bytes: png)).first { $0.id == type })
    var bytes = png
    bytes[chunk.range.upperBound - 1] ^= 1
    return bytes
  }

  @Test(arguments: ["IDAT", "IHDR", "IEND", "tEXt", "gAMA", "pHYs", "eXIf"])
  func `a PNG with a wrong checksum is sent so that all programs read it`(type: String) throws {
    var png = try Self.scene.png()
    if type == "tEXt" { png = Surgery.png(png, adding: type, Array("Title\0x".utf8)) }
    if type == "gAMA" { png = Surgery.png(png, adding: type, [0, 0, 0xB1, 0x8F]) }
    if type == "pHYs" { png = Surgery.png(png, adding: type, [0, 0, 0, 1, 0, 0, 0, 1, 0]) }
    if type == "eXIf" { png = Surgery.png(png, adding: type, Exif.tiff(.upright)) }
    let bytes = try Self.breakingCheck(of: type, in: png)
    for options in [[], [("profile", "ios")]] {
      let made = try PictureRenderer.render(bytes, options)
      #expect(try Self.seen(made, bytes) == "64 48", "\(options)")
    }
  }

  @Test(arguments: [-1, 1, 4, 1000, 0x7FFF_FFFF])
  func `a PNG whose chunk has a wrong length is refused, or sent whole`(wrong: Int) throws {
    let png = try Self.scene.png()
    for chunk in Chunks(png: SourceFile(bytes: png)) where chunk.body.count + wrong >= 0 {
      var bytes = png
      bytes.replaceSubrange(
        chunk.range.prefix(4), with: PNGChunk.bigEndian(chunk.body.count + wrong))
      for options in [[], [("profile", "ios")]] {
        guard let made = try? PictureRenderer.render(bytes, options) else {
          let hidesPixels = chunk.id == "IHDR" || chunk.id == "IDAT" && wrong == 0x7FFF_FFFF
          #expect(hidesPixels, "\(chunk.id) \(options)")
          continue
        }
        #expect(try Self.seen(made, bytes) == "64 48", "\(chunk.id) \(options)")
      }
    }
  }

  @Test func `a PNG without its end is encoded anew, one cut inside its pixels is refused`() throws
  {
    let png = try Self.scene.png()
    let withoutEnd = Array(png.dropLast(12))
    let made = try PictureRenderer.render(withoutEnd)
    #expect(!made.isOriginal)
    #expect(try Self.seen(made, withoutEnd) == "64 48")
    #expect(throws: ImagingError.self) { try PictureRenderer.render(Array(png.dropLast(40))) }
  }

  @Test(arguments: [[], [0, 0], Array("abc".utf8)] as [[UInt8]])
  func `a GIF without its end, or with bytes behind its picture, is sent so that it decodes`(
    stray: [UInt8]
  ) throws {
    let gif = try Tool.run("ppmquant 64 2>/dev/null | pamtogif", PortableMap.bytes(of: Self.scene))
    let image = try #require(GIFBlocks(SourceFile(bytes: gif)).first { $0.kind == .image })
    var bytes = gif
    bytes.insert(contentsOf: stray, at: image.range.upperBound)
    if stray.isEmpty { bytes.removeLast() }
    for options in [[], [("profile", "ios")]] {
      let made = try PictureRenderer.render(bytes, options)
      #expect(made.size == PixelSize(64, 48))
      #expect(try Self.seen(made, bytes) == "64 48")
      #expect(!made.isOriginal)
    }
  }

  @Test func `what is only cleaned keeps its coded pixels`() throws {
    let jpeg = try Self.scene.jpeg()
    let png = try Self.scene.png()
    let gif = try Tool.run("ppmquant 64 2>/dev/null | pamtogif", PortableMap.bytes(of: Self.scene))
    // Behind the scan, where it sends the quick reader of reduced JPEGs to libjpeg.
    let comment: [UInt8] = [0xFF, 0xFE, 0, 3, 1]
    let dirty = [
      Surgery.jpeg(jpeg, adding: 0xFE, [1, 2, 3]), jpeg.dropLast(2) + comment + [0xFF, 0xD9],
      gif + [1, 2], Surgery.png(png, adding: "tEXt", Array("Title\0x".utf8)),
    ]
    for (bytes, clean) in zip(dirty, [jpeg, jpeg, gif, png]) {
      for options in [[], [("profile", "ios")]] {
        let made = try PictureRenderer.render(bytes, options)
        #expect(made.bytes(from: SourceFile(bytes: bytes)).elementsEqual(clean))
      }
    }
  }

  @Test func `what is too large when it is cleaned is encoded smaller`() throws {
    let clean = try Self.scene.png()
    let png = Surgery.png(clean, adding: "tEXt", Array("Title\0x".utf8))
    var limits = Limits()
    for (bytes, isKept) in [(clean.count, true), (clean.count - 1, false)] {
      limits.outputBytes = bytes
      let made = try PictureRenderer(Options(), limits: limits).render(SourceFile(bytes: png))
      #expect(made.byteCount <= bytes)
      if case .cleaned = made.content { #expect(isKept) } else { #expect(!isKept) }
    }
  }

  @Test func `an animation that is cleaned keeps all of its pictures`() throws {
    let gif = try Tool.run(
      "python -c 'from PIL import Image; a, b = Image.new(\"RGB\", (40, 30), \"red\"), Image.new(\"RGB\", (40, 30), \"blue\"); "
        + "a.save(\"x.gif\", save_all=True, append_images=[b, a], comment=b\"SECRET\", duration=50); "
        + "import sys; sys.stdout.buffer.write(open(\"x.gif\", \"rb\").read())'")
    for options in [[], [("profile", "ios")]] {
      let sent = try PictureRenderer.render(gif, options).bytes(from: SourceFile(bytes: gif))
      #expect(!sent.contains("SECRET"))
      #expect(
        try Tool.text(
          "python -c 'from PIL import Image; print(Image.open(\"in\").n_frames, end=\"\")'", sent)
          == "3")
    }
  }

  @Test func `what looks different is not the same appearance`() throws {
    func appearance(_ bytes: [UInt8]) throws -> Appearance {
      let source = SourceFile(bytes: bytes)
      return try Appearance(source, PictureKind(source), limits: Limits(), checking: true)
    }
    let jpeg = try Self.scene.jpeg()
    let same = try appearance(jpeg)
    #expect(try appearance(Surgery.jpeg(jpeg, adding: 0xFE, [1, 2, 3])).isLike(same))
    #expect(try !appearance(Surgery.jpeg(jpeg, turned: .clockwise)).isLike(same))
    let profile = ICC.profile(swapping: true)
    #expect(try !appearance(Surgery.jpeg(jpeg, profile: profile)).isLike(same))
    #expect(try !appearance(Canvas.scene(64, 32).jpeg()).isLike(same))
    let other = Canvas(size: Self.scene.size) { x, y in (x * 3, y * 3, 90, 255) }
    #expect(try !appearance(other.jpeg()).isLike(same))
    #expect(throws: ImagingError.self) { try appearance(Array(jpeg.dropLast(200))) }
  }
}
