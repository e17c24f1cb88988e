import Foundation
import Testing

import MediaTypes
@testable import Imaging

/// HEIF, AVIF and WebP, which `img-decode` decodes, beside what other decoders make of them.
@Suite(.timeLimit(.minutes(5))) struct ForeignPictureTests {
  struct Coding: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// Makes `out.*` of `a.png`.
    let encoding: String
    /// Makes `b.png` of `$file`.
    let decoding: String
    let hasAlpha: Bool

    init(_ name: String, _ encoding: String, _ decoding: String, alpha: Bool = false) {
      (testDescription, self.encoding, self.decoding) = (name, encoding, decoding)
      hasAlpha = alpha
    }
  }

  private static let heif = "cp $file a.heic; heif-convert a.heic b.png >&2"
  private static let avif = "cp $file a.avif; avifdec a.avif b.png >&2"
  private static let webp = "dwebp -quiet -nofancy $file -o b.png"

  private static let codings = [
    Coding("HEIC", "heif-enc -q 90 a.png -o out.heic", heif),
    Coding("HEIC, 4:4:4", "heif-enc -q 90 -p chroma=444 a.png -o out.heic", heif),
    Coding("HEIC, alpha", "heif-enc -q 90 a.png -o out.heic", heif, alpha: true),
    Coding(
      "HEIC, 10 bits",
      "convert a.png -depth 16 b.png; heif-enc -b 10 -q 90 b.png -o out.heic", heif),
    Coding("AVIF", "avifenc -s 8 -y 420 a.png out.avif", avif),
    Coding("AVIF, 4:2:2", "avifenc -s 8 -y 422 a.png out.avif", avif),
    Coding("AVIF, 4:4:4", "avifenc -s 8 -y 444 a.png out.avif", avif),
    Coding("AVIF, video range", "avifenc -s 8 -r limited a.png out.avif", avif),
    Coding("AVIF, BT.709 matrix", "avifenc -s 8 --cicp 1/13/1 a.png out.avif", avif),
    Coding("AVIF without loss", "avifenc -s 8 --lossless a.png out.avif", avif),
    Coding("AVIF, grey", "avifenc -s 8 -y 400 a.png out.avif", avif),
    Coding("AVIF, 10 bits", "avifenc -s 8 -d 10 a.png out.avif", avif),
    Coding("AVIF, 12 bits", "avifenc -s 8 -d 12 -y 444 a.png out.avif", avif),
    Coding("AVIF, alpha", "avifenc -s 8 a.png out.avif", avif, alpha: true),
    Coding("AVIF, 10 bits, alpha", "avifenc -s 8 -d 10 a.png out.avif", avif, alpha: true),
    Coding("AVIF, premultiplied", "avifenc -s 8 -p a.png out.avif", avif, alpha: true),
    Coding("AVIF, tiles", "avifenc -s 8 -y 444 -g 2x2 a.png out.avif", avif),
    Coding("WebP", "cwebp -quiet -q 90 a.png -o out.webp", webp),
    Coding("WebP without loss", "cwebp -quiet -lossless a.png -o out.webp", webp),
    Coding("WebP, alpha", "cwebp -quiet -q 90 a.png -o out.webp", webp, alpha: true),
    Coding(
      "WebP without loss, alpha", "cwebp -quiet -lossless a.png -o out.webp", webp, alpha: true),
  ]

  /// Smooth colours, half of them half transparent.
  private static func canvas(alpha: Bool) -> Canvas {
    let scene = Canvas.scene(320, 240)
    return Canvas(size: scene.size) { x, y in
      let pixel = scene.pixel(x, y)
      let opacity = alpha ? (x < 100 ? 0 : x < 200 ? 128 : 255) : 255
      return (pixel.red, pixel.green, pixel.blue, opacity)
    }
  }

  @Test(arguments: codings)
  func `pixels are those of another decoder`(coding: Coding) throws {
    let bytes = try Foreign.file(
      Self.canvas(alpha: coding.hasAlpha), alpha: coding.hasAlpha, coding.encoding)
    let map = try #require(
      PortableMap(try Tool.run("{ \(coding.decoding); }; pngtopam -alphapam b.png", bytes)))
    let raster = try Foreign.decoded(bytes)
    let difference = map.meanDifference(from: raster)
    #expect(difference < 1.2, "\(difference)")
    let facts = try Foreign.facts(bytes)
    #expect(facts.size == PixelSize(320, 240))
    #expect(facts.isTransparent == coding.hasAlpha && !facts.isAnimated && facts.advice.isEmpty)
    let rendition = try Foreign.render(bytes, ("profile", "thumb"))
    #expect(rendition.mediaType == (coding.hasAlpha ? "image/png" : "image/jpeg"))
    #expect(rendition.size == PixelSize(160, 120))
    guard !coding.hasAlpha else { return }
    let wanted = FloatPicture(map).shrunk(to: rendition.size)
    let seen = try FloatPicture(decoding: rendition.encoded)
    // What the coding of the rendition costs is the same for a PNG.
    let plain = try FloatPicture(
      decoding: PictureRenderer.render(
        Self.canvas(alpha: false).png(), ("profile", "thumb")
      ).encoded)
    let (similarity, best) = (seen.similarity(to: wanted), plain.similarity(to: wanted))
    let colours = seen.difference(from: wanted)
    #expect(colours < 2.5 && similarity > best - 0.01, "\(colours), \(similarity) of \(best)")
  }

  @Test(arguments: 0..<4, 0..<2)
  func `an AVIF is turned and mirrored as it says`(turns: Int, mirrored: Int) throws {
    let bytes = try Foreign.sample("pillow", "rot\(turns)mir\(mirrored).avif")
    // avifdec leaves the picture as it is coded.
    let upright = "convert b.png -rotate \(-90 * turns) \(mirrored == 0 ? "-flip" : "-flop") c.png"
    let map = try #require(
      PortableMap(try Tool.run("{ \(Self.avif); \(upright); } >&2; pngtopam c.png", bytes)))
    let turned = try Foreign.decoded(bytes)
    #expect(turned.size == PixelSize(640, 427))
    let difference = map.meanDifference(from: turned)
    #expect(difference < 1.2, "\(difference)")
  }

  @Test(arguments: 2...8)
  func `a WebP stands upright by its EXIF data`(orientation: Int) throws {
    let plain = try FloatPicture(
      decoding: Foreign.render(Foreign.sample("pillow", "Tests/images/hopper.webp")).encoded)
    let turned = try Foreign.render(
      Foreign.sample("pillow", "hopper_orientation_\(orientation).webp"))
    #expect(try FloatPicture(decoding: turned.encoded).difference(from: plain) < 4)
    #expect(!turned.encoded.contains("Exif"))
  }

  @Test func `EXIF does not turn a HEIC, whose own properties do`() throws {
    let bytes = try Foreign.file(
      .quadrants(64, 32),
      "convert a.png b.jpg; exiftool -q -n -Orientation=6 b.jpg; "
        + "heif-enc b.jpg -o out.heic")
    #expect(try Foreign.facts(bytes).size == PixelSize(64, 32))
    let rendition = try Foreign.render(bytes, ("width", "32"))
    let seen = try Decoded(rendition.encoded)
    #expect(rendition.size == PixelSize(32, 16))
    #expect(seen[4, 4][0] > 200 && seen[28, 4][1] > 150 && seen[4, 12][2] > 200)
    #expect(!rendition.encoded.contains("Exif"))
  }

  @Test func `tiles of a HEIC are joined`() throws {
    let tiled = try TiledHEIC(
      .scene(192, 128), tile: PixelSize(64, 64), showing: PixelSize(180, 118))
    let bytes = tiled.bytes
    #expect(try Foreign.facts(bytes).size == PixelSize(180, 118))
    let whole = try #require(PortableMap(try Tool.run("{ \(Self.heif); }; pngtopam b.png", bytes)))
    #expect(whole.meanDifference(from: try Foreign.decoded(bytes)) < 1)
    let source = try #require(
      PortableMap(
        try Tool.run("pngtopam -alphapam $file | pamcut 0 0 180 118", Canvas.scene(192, 128).png()))
    )
    #expect(source.meanDifference(from: try Foreign.decoded(bytes)) < 6)
  }

  @Test func `a HEIC of another encoder is decoded`() throws {
    let bytes = try Foreign.sample("filetype", "sample.heic")
    let map = try #require(PortableMap(try Tool.run("{ \(Self.heif); }; pngtopam b.png", bytes)))
    #expect(map.meanDifference(from: try Foreign.decoded(bytes)) < 1)
    #expect(try Foreign.facts(bytes).size == PixelSize(1440, 960))
  }

  @Test(arguments: [
    "convert a.png b.jpg; heif-enc -L -p chroma=444 b.jpg -o out.heic",
    "avifenc -s 8 --min 0 --max 4 -y 444 a.png out.avif",
    "avifenc -s 8 --min 0 --max 4 -y 444 -d 10 a.png out.avif",
    "cwebp -quiet -lossless -metadata icc a.png -o out.webp",
  ])
  func `colours of Display P3 become those of sRGB`(command: String) throws {
    let canvas = Canvas(size: PixelSize(64, 64)) { _, _ in (200, 60, 40, 255) }
    let profiled = Surgery.png(try canvas.png(), adding: "iCCP", ICC.chunk(ICC.displayP3))
    let bytes = try Tool.run("cp $file a.png; { \(command); } >&2; cat out.*", profiled)
    let wanted = try Decoded(PictureRenderer.render(profiled, ("width", "32")).encoded)[16, 16]
    for linear in ["0", "1"] {
      let rendition = try Foreign.render(bytes, ("width", "32"), ("linear", linear))
      let seen = try Decoded(rendition.encoded)[16, 16]
      #expect(zip(seen, wanted).allSatisfy { abs($0 - $1) <= 5 }, "\(seen), not \(wanted)")
    }
  }

  @Test func `code points of Display P3 are followed`() throws {
    let canvas = Canvas(size: PixelSize(64, 64)) { _, _ in (200, 60, 40, 255) }
    let profiled = Surgery.png(try canvas.png(), adding: "iCCP", ICC.chunk(ICC.displayP3))
    let wanted = try Decoded(PictureRenderer.render(profiled, ("width", "32")).encoded)[16, 16]
    for depth in [8, 10] {
      let bytes = try Foreign.file(
        canvas, "avifenc -s 8 -d \(depth) --cicp 12/13/6 --min 0 --max 4 -y 444 a.png out.avif")
      let seen = try Decoded(Foreign.render(bytes, ("width", "32")).encoded)[16, 16]
      #expect(zip(seen, wanted).allSatisfy { abs($0 - $1) <= 5 }, "\(seen), not \(wanted)")
    }
  }

  @Test func `a film's code points of BT.709 change nothing`() throws {
    let canvas = Canvas(size: PixelSize(32, 32)) { _, _ in (120, 90, 60, 255) }
    let bytes = try Foreign.file(
      canvas, "avifenc -s 8 --cicp 1/1/1 --min 0 --max 4 -y 444 a.png out.avif")
    let seen = try Decoded(Foreign.render(bytes).encoded)[16, 16]
    #expect(zip(seen, [120, 90, 60]).allSatisfy { abs($0 - $1) <= 3 }, "\(seen)")
  }

  @Test func `a sticker without loss stays a PNG`() throws {
    let canvas = Canvas(size: PixelSize(200, 200)) { x, _ in
      x < 100 ? (10, 20, 30, 255) : (250, 240, 230, 255)
    }
    let bytes = try Foreign.file(canvas, "cwebp -quiet -lossless a.png -o out.webp")
    let rendition = try Foreign.render(bytes, ("width", "100"))
    #expect(rendition.mediaType == "image/png")
    #expect(try Decoded(rendition.encoded)[10, 50] == [10, 20, 30])
  }

  @Test(arguments: [("pillow", "star.avifs", 159), ("pillow", "iss634.webp", 245)])
  func `of an animation the first picture is shown`(from: String, name: String, width: Int) throws {
    let bytes = try Foreign.sample(from, name)
    let facts = try Foreign.facts(bytes)
    #expect(facts.isAnimated && facts.size.width == width)
    #expect(try Foreign.render(bytes, ("profile", "ios")).size == facts.size)
  }

  @Test func `the first picture of an animated WebP has its place on the canvas`() throws {
    let bytes = try Foreign.file(
      .quadrants(100, 60),
      "cwebp -quiet -lossless a.png -o b.webp; "
        + "convert a.png -crop 40x20+0+0 +repage c.png; cwebp -quiet -lossless c.png -o c.webp; "
        + "webpmux -frame c.webp +100+20+10 -frame c.webp +100+40+30 -o out.webp")
    let raster = try Foreign.decoded(bytes)
    #expect(raster.size == PixelSize(80, 50) && raster.model == .rgba)
    #expect(raster.colour(19, 10).w == 0 && raster.colour(20, 10) == SIMD4(255, 0, 0, 255))
  }

  @Test func `nothing of a photo's metadata is left`() throws {
    let bytes = try Foreign.file(
      .scene(64, 48),
      "convert a.png b.jpg; exiftool -q -GPSLatitude=48.2 -Artist=PRIV123 "
        + "-XMP-dc:Creator=PRIV123 b.jpg; heif-enc b.jpg -o out.heic")
    let rendition = try Foreign.render(bytes)
    #expect(rendition.mediaType == "image/jpeg" && rendition.size == PixelSize(64, 48))
    #expect(!String(decoding: rendition.encoded, as: UTF8.self).contains("PRIV123"))
  }
}
