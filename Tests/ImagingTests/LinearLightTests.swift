import Testing

import MediaTypes
@testable import Imaging

@Suite struct LinearLightTests {
  /// Stripes of black and white, a pixel wide each.
  private static let stripes = Canvas(size: PixelSize(400, 300)) { x, _ in
    x % 2 == 0 ? (255, 255, 255, 255) : (0, 0, 0, 255)
  }

  private static func centre(_ rendition: RenderedPicture) throws -> [Int] {
    let pixels = try Decoded(rendition.encoded)
    return pixels[pixels.size.width / 2, pixels.size.height / 2]
  }

  @Test func `black and white stripes leave half the light, or half the code by default`() throws {
    for source in [try Self.stripes.jpeg(quality: 98), try Self.stripes.png()] {
      let light = try Self.centre(PictureRenderer.render(source, ("width", "50"), ("linear", "1")))
      let code = try Self.centre(PictureRenderer.render(source, ("width", "50"), ("linear", "0")))
      #expect(light.prefix(3).allSatisfy { abs($0 - 188) <= 2 })
      #expect(code.prefix(3).allSatisfy { abs($0 - 128) <= 2 })
    }
  }

  @Test func `a profile resamples in light when it is asked to`() throws {
    let source = try Self.stripes.jpeg(quality: 98)
    let light = try PictureRenderer.render(source, ("profile", "thumb"), ("linear", "1"))
    #expect(abs(try Self.centre(light)[0] - 188) <= 2)
    #expect(light.size == PixelSize(160, 120))
  }

  @Test(arguments: Orientation.allCases)
  func `a crop in light shows what the same crop in codes shows`(orientation: Orientation) throws {
    let source = Surgery.jpeg(try Canvas.quadrants(300, 200).jpeg(), turned: orientation)
    let options = [("width", "50"), ("height", "60"), ("fit", "cover"), ("focus", "0.2,0.9")]
    let code = try Decoded(PictureRenderer.render(source, options).encoded)
    let light = try Decoded(PictureRenderer.render(source, options + [("linear", "1")]).encoded)
    #expect(light.size == code.size)
    for (x, y) in [(4, 4), (36, 4), (4, 55), (36, 55)] {
      #expect(zip(light[x, y], code[x, y]).allSatisfy { abs($0 - $1) < 24 })
    }
  }

  @Test func `transparent edges keep their colour`() throws {
    let rendition = try PictureRenderer.render(
      Canvas.disc(400).png(alpha: true), ("width", "100"), ("linear", "1"))
    let pixels = try Decoded(rendition.encoded)
    #expect(pixels[0, 0][3] == 0)
    for y in 0..<100 {
      for x in 0..<100 where pixels[x, y][3] > 8 {
        #expect(abs(pixels[x, y][0] - 230) <= 2 && abs(pixels[x, y][1] - 40) <= 2)
      }
    }
  }

  @Test func `a profile's colours are brought to sRGB before the light is averaged`() throws {
    let red = Canvas(size: PixelSize(64, 64)) { _, _ in (200, 60, 40, 255) }
    for source in [
      Surgery.jpeg(try red.jpeg(), profile: ICC.profile(swapping: true)),
      Surgery.png(try red.png(), adding: "iCCP", ICC.chunk(ICC.profile(swapping: true))),
    ] {
      let seen = try Self.centre(PictureRenderer.render(source, ("width", "32"), ("linear", "1")))
      #expect(zip(seen, [40, 60, 200]).allSatisfy { abs($0 - $1) <= 6 })
    }
  }

  @Test func `linear is 0 or 1`() {
    #expect(throws: ImagingError.self) {
      try PictureRenderer.render([], ("linear", "yes"))
    }
  }
}
