import Testing

import MediaTypes
@testable import Imaging

@Suite struct ColourTests {
  /// Patches of plain colour, far enough apart to survive chroma subsampling.
  private static let canvas = Canvas(size: PixelSize(128, 64)) { x, _ in
    [(200, 60, 40, 255), (40, 180, 90, 255), (30, 60, 210, 255), (180, 180, 180, 255)][x / 32]
  }

  private static func centres(_ rendition: RenderedPicture) throws -> [[Int]] {
    let pixels = try Decoded(rendition.encoded)
    return (0..<4).map { pixels[($0 * 2 + 1) * pixels.size.width / 8, pixels.size.height / 2] }
  }

  private static func isNear(_ a: [Int], _ b: [Int], within tolerance: Int) -> Bool {
    zip(a, b).allSatisfy { abs($0 - $1) <= tolerance }
  }

  @Test func `a profile with red and blue exchanged is obeyed in JPEG and PNG`() throws {
    let profile = ICC.profile(swapping: true)
    for source in [
      Surgery.jpeg(try Self.canvas.jpeg(), profile: profile),
      Surgery.png(try Self.canvas.png(), adding: "iCCP", ICC.chunk(profile)),
    ] {
      let seen = try Self.centres(PictureRenderer.render(source, ("width", "64")))
      #expect(Self.isNear(seen[0], [40, 60, 200], within: 8))
      #expect(Self.isNear(seen[2], [210, 60, 30], within: 8))
    }
  }

  @Test func `an sRGB profile changes nothing and the file passes as it is`() throws {
    let source = Surgery.jpeg(try Self.canvas.jpeg(), profile: ICC.profile(swapping: false))
    #expect(try PictureRenderer.render(source, ("width", "128")).isOriginal)
  }

  @Test func `a broken profile is ignored`() throws {
    let source = Surgery.jpeg(
      try Self.canvas.jpeg(), profile: Array(ICC.profile(swapping: true).prefix(200)))
    let seen = try Self.centres(PictureRenderer.render(source, ("width", "64")))
    #expect(Self.isNear(seen[0], [200, 60, 40], within: 8))
  }

  @Test func `gAMA 1 is light as it is`() throws {
    let source = Surgery.png(
      try Self.canvas.png(), adding: "gAMA", [0, 1, 0x86, 0xA0])  // 100000
    let seen = try Self.centres(PictureRenderer.render(source, ("width", "64")))
    #expect(Self.isNear(seen[3], [218, 218, 218], within: 2))  // 180/255 of the light
  }

  @Test func `gAMA of sRGB, and sRGB beside another gAMA, change nothing`() throws {
    let plain = try Self.canvas.png()
    let usual = Surgery.png(plain, adding: "gAMA", [0, 0, 0xB1, 0x8F])
    let named = Surgery.png(
      Surgery.png(plain, adding: "gAMA", [0, 1, 0x86, 0xA0]), adding: "sRGB", [0])
    for source in [usual, named] {
      let seen = try Self.centres(PictureRenderer.render(source, ("width", "64")))
      #expect(Self.isNear(seen[3], [180, 180, 180], within: 1))
    }
  }

  @Test func `cICP says Display P3, and its red is redder than sRGB can be`() throws {
    let source = Surgery.png(try Self.canvas.png(), adding: "cICP", [12, 13, 0, 1])
    let seen = try Self.centres(PictureRenderer.render(source, ("width", "64")))
    #expect(seen[0][0] > 210 && seen[0][1] < 52)
    #expect(Self.isNear(seen[3], [180, 180, 180], within: 2))
  }

  @Test func `the profile of a grey PNG with alpha is obeyed`() throws {
    let profile = ICC.greyProfile(gamma: 1)
    let half = RawPNG(PixelSize(64, 64), colourType: 4, depth: 8) { x, _ in
      [180, x < 32 ? 255 : 128]
    }
    let source = Surgery.png(
      half.bytes, adding: "iCCP", ICC.chunk(profile))
    for linear in ["0", "1"] {
      let pixels = try Decoded(
        PictureRenderer.render(source, ("width", "32"), ("linear", linear)).encoded)
      #expect(Self.isNear(pixels[6, 6], [218, 218, 218, 255], within: 2))
      #expect(Self.isNear(pixels[26, 26], [218, 218, 218, 128], within: 2))
    }
  }

  @Test func `PQ is toned down so that its white is neither black nor glaring`() throws {
    // 148 of 255 is 203 cd/m2, the white of a page; 115 of 255 about a fifth of it
    let tones = Canvas(size: PixelSize(128, 64)) { x, _ in
      let tone = [148, 115, 0, 255][x / 32]
      return (tone, tone, tone, 255)
    }
    let source = Surgery.png(try tones.png(), adding: "cICP", [9, 16, 0, 1])
    let seen = try Self.centres(PictureRenderer.render(source, ("width", "64"))).map { $0[0] }
    #expect((220...245).contains(seen[0]) && (110...150).contains(seen[1]))
    #expect(seen[2] == 0 && seen[3] >= 254)
  }

  @Test func `HLG is shown as the ordinary video it was made to look like`() throws {
    let hybrid = Surgery.png(try Self.canvas.png(), adding: "cICP", [9, 18, 0, 1])
    let video = Surgery.png(try Self.canvas.png(), adding: "cICP", [9, 14, 0, 1])
    #expect(
      try Self.centres(PictureRenderer.render(hybrid, ("width", "64")))
        == Self.centres(PictureRenderer.render(video, ("width", "64"))))
  }

  @Test func `YCbCr and the inks of YCCK are mixed as T.871 says`() {
    let planes = ([76, 85, 255, 0] as [UInt8]).map { value in
      var plane = Plane(PixelSize(1, 1), channels: 1)
      plane.samples[0] = value
      return plane
    }
    #expect(
      Mixing.interleaved(Array(planes.prefix(3)), model: .ycc).samples.prefix(3) == [254, 0, 0])
    #expect(Mixing.interleaved(planes, model: .ycck).samples.prefix(4) == [1, 255, 255, 0])
  }

  @Test func `the samples of inks are the light that they leave`() {
    var inks = Plane(PixelSize(1, 1), channels: 4)
    inks.samples.replaceSubrange(0..<4, with: [255, 128, 0, 255])
    #expect(Mixing.rgb(ofInks: inks).samples.prefix(3) == [255, 128, 0])
  }
}
