import Testing

import MediaTypes
@testable import Imaging

@Suite struct PictureRendererTests {
  private static let large = (try? Canvas.scene(1500, 900).jpeg()) ?? []

  @Test func `a JPEG is fitted into the box and keeps its proportions`() throws {
    let rendition = try PictureRenderer.render(Canvas.scene(800, 600).jpeg(), ("width", "200"))
    #expect(rendition.mediaType == "image/jpeg")
    #expect(rendition.size == PixelSize(200, 150))
    #expect(try Decoded(rendition.encoded).size == PixelSize(200, 150))
  }

  @Test func `a picture is never enlarged`() throws {
    let source = try Canvas.scene(120, 80).jpeg()
    let rendition = try PictureRenderer.render(source, ("width", "640"), ("dpr", "3"))
    #expect(rendition.size == PixelSize(120, 80))
    #expect(rendition.isOriginal)
  }

  @Test func `cover fills the box around the focal point`() throws {
    let source = try Canvas.quadrants(400, 200).jpeg()
    let left = try PictureRenderer.render(
      source, ("width", "100"), ("height", "100"), ("fit", "cover"), ("focus", "0,0.5"))
    #expect(left.size == PixelSize(100, 100))
    let pixels = try Decoded(left.encoded)
    #expect(pixels[90, 10][0] > 220 && pixels[90, 10][1] < 40)
    #expect(pixels[90, 90][2] > 220 && pixels[90, 90][0] < 40)
  }

  @Test func `cover of a box larger than the picture keeps the box's proportions`() throws {
    let rendition = try PictureRenderer.render(
      Canvas.scene(300, 200).jpeg(), ("width", "1000"), ("height", "1000"), ("fit", "cover"))
    #expect(rendition.size == PixelSize(200, 200))
  }

  @Test func `transparency stays and its edge has no dark fringe`() throws {
    let rendition = try PictureRenderer.render(Canvas.disc(400).png(alpha: true), ("width", "100"))
    #expect(rendition.mediaType == "image/png")
    let pixels = try Decoded(rendition.encoded)
    #expect(pixels.model == .rgba)
    #expect(pixels[0, 0][3] == 0)
    var fringe = 0
    for y in 0..<100 {
      for x in 0..<100 where pixels[x, y][3] > 8 {
        fringe = max(fringe, abs(pixels[x, y][0] - 230), abs(pixels[x, y][1] - 40))
      }
    }
    #expect(fringe <= 4)
  }

  @Test func `an alpha channel that hides nothing is dropped`() throws {
    let rendition = try PictureRenderer.render(
      Canvas.scene(300, 200).png(alpha: true), ("width", "100"))
    #expect(rendition.mediaType == "image/jpeg")
  }

  @Test func `a drawing in few colours stays a PNG`() throws {
    let rendition = try PictureRenderer.render(Canvas.quadrants(300, 200).png(), ("width", "100"))
    #expect(rendition.mediaType == "image/png")
  }

  @Test func `a very tall PNG is shrunk without being kept`() throws {
    let tall = Canvas(size: PixelSize(64, 2000)) { _, y in
      y < 1000 ? (240, 30, 30, 255) : (30, 30, 240, 255)
    }
    let rendition = try PictureRenderer.render(tall.png(), ("height", "40"))
    #expect(rendition.size == PixelSize(1, 40))
    let pixels = try Decoded(rendition.encoded)
    #expect(pixels[0, 10][0] == 240 && pixels[0, 30][2] == 240)
  }

  @Test func `grey stays grey`() throws {
    let rendition = try PictureRenderer.render(Canvas.scene(300, 200).greyJPEG(), ("width", "100"))
    #expect(try Decoded(rendition.encoded).model == .grey)
  }

  @Test(arguments: DeviceProfile.allCases)
  func `a profile's box and byte limit hold`(profile: DeviceProfile) throws {
    let rendition = try PictureRenderer.render(Self.large, ("profile", profile.rawValue))
    #expect(rendition.size.width <= profile.box.width)
    #expect(rendition.size.height <= profile.box.height)
    #expect(rendition.byteCount <= profile.maximumBytes)
  }

  @Test(arguments: [12_000, 4_000, 1_500])
  func `a byte limit is kept for JPEG and PNG`(limit: Int) throws {
    for source in [
      try Canvas.scene(300, 200).jpeg(), try Canvas.disc(260).png(alpha: true),
    ] {
      let rendition = try PictureRenderer.render(
        source, ("max-bytes", "\(limit)"), ("width", "240"))
      #expect(rendition.byteCount <= limit)
    }
  }

  @Test func `a limit nobody can reach is refused with the number`() throws {
    let source = try Canvas.scene(600, 400).jpeg()
    let error = #expect(throws: ImagingError.self) {
      try PictureRenderer.render(source, ("max-bytes", "90"), ("width", "400"))
    }
    #expect(error?.code == .unreachable)
    #expect(error?.reason.contains("90 bytes") == true)
  }
}
