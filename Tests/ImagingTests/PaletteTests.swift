import Testing

import MediaTypes
@testable import Imaging

@Suite struct PaletteTests {
  private static func raster(_ canvas: Canvas) -> Raster {
    Raster(planes: [canvas.plane(channels: 4)], model: .rgba)
  }

  @Test func `few colours become a palette without loss`() throws {
    let raster = Self.raster(Canvas.disc(60))
    let palette = try #require(Palette(exactly: raster))
    #expect(palette.colours.count == 2)
    let decoded = try Decoded(Encoder.png(raster).bytes)
    #expect(decoded.plane.samples.elementsEqual(raster.planes[0].samples))
  }

  @Test func `many colours are cut to 256 that lie near`() throws {
    let raster = Self.raster(Canvas.scene(120, 90))
    #expect(Palette(exactly: raster) == nil)
    let palette = Palette(nearest: raster)
    #expect(palette.colours.count <= 256)
    var error = 0
    for y in 0..<90 {
      for x in 0..<120 {
        let colour = palette.colours[Int(palette.indexes.samples[y * palette.indexes.stride + x])]
        let wanted = raster.colour(x, y)
        error += (0..<3).reduce(0) { $0 + abs(Int(colour[$1]) - Int(wanted[$1])) }
      }
    }
    #expect(error / (120 * 90 * 3) < 8)
  }

  @Test func `a transparent picture reaches its byte limit with a palette before it shrinks`()
    throws
  {
    let raster = Self.raster(
      Canvas(size: PixelSize(200, 200)) { x, y in
        var noise = (x &* 73_856_093) ^ (y &* 19_349_663)
        noise = (noise ^ (noise >> 7)) &* 2_654_435_761 >> 12 & 15
        return (x + noise, y + noise / 2, (x + y) / 2 + noise, x > 100 ? 255 : 128)
      })
    let whole = try Encoder.png(raster).bytes.count
    var encoder = SizeLimitedEncoder(whole * 4 / 5)
    let encoded = try encoder.encode(raster, as: .png)
    #expect(encoded.size == PixelSize(200, 200))
    #expect(encoded.bytes.count <= whole * 4 / 5)
    #expect(encoder.encodes == 2)
  }

  @Test(arguments: [3, 4])
  func `the search for a small enough file ends within eight encodes`(channels: Int) {
    let plane = Canvas.scene(60, 40).plane(channels: channels)
    let raster = Raster(planes: [plane], model: channels == 4 ? .rgba : .rgb)
    for limit in [20, 900] {
      var encoder = SizeLimitedEncoder(limit)
      let encoded = try? encoder.encode(raster, as: .png)
      #expect(encoder.encodes <= 8)
      #expect((encoded?.bytes.count ?? 0) <= limit)
    }
  }

  @Test func `above its byte limit a flat picture is a smaller PNG where a JPEG has more bytes`()
    throws
  {
    let stripes = Canvas(size: PixelSize(300, 300)) { x, _ in
      x / 5 % 2 == 0 ? (0, 0, 0, 255) : (255, 255, 255, 255)
    }
    var encoder = SizeLimitedEncoder(400)
    let encoded = try encoder.encode(Raster(planes: [stripes.plane()], model: .rgb), as: .png)
    #expect(encoded.format == .png && encoded.bytes.count <= 400)
  }
}
