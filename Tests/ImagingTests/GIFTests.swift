import Testing

import MediaTypes
@testable import Imaging

@Suite struct GIFTests {
  private static func gif(_ canvas: Canvas, _ flags: String = "") throws -> [UInt8] {
    try Tool.run("ppmquant 256 2>/dev/null | pamtogif \(flags)", PortableMap.bytes(of: canvas))
  }

  /// A second picture of one pixel behind the first one.
  private static func moving(_ bytes: [UInt8]) -> [UInt8] {
    let more: [UInt8] = [0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 0x01, 0]
    return bytes.dropLast() + more + [0x3B]
  }

  @Test(arguments: ["", "-interlace", "-transparent==red", "-nolzw"])
  func `a GIF has the pixels that giftopnm reads`(flags: String) throws {
    for canvas in [Canvas.scene(97, 61), Canvas.quadrants(33, 20), Canvas.scene(1, 1)] {
      let bytes = try Self.gif(canvas, flags)
      let wanted = try #require(PortableMap(Tool.run("giftopnm", bytes)))
      let picture = try GIFPicture(SourceFile(bytes: bytes), limits: Limits())
      let raster = try FrameResampler(whole: picture.size).resample(picture.rows, inLight: false)
      #expect(picture.isWhole && picture.size == wanted.size)
      for y in 0..<wanted.size.height {
        for x in 0..<wanted.size.width {
          let pixel = raster.colour(x, y)
          guard pixel.w == 255 else {
            #expect(flags.hasPrefix("-transparent") && wanted.colour(x, y) == [255, 0, 0, 255])
            continue
          }
          #expect(
            [pixel.x, pixel.y, pixel.z].map(Int.init) == Array(wanted.colour(x, y).prefix(3)))
        }
      }
    }
  }

  /// A GIF whose codes have one bit more than `codeSize`, without compression.
  private static func plain(codeSize: Int, _ size: PixelSize, _ indexes: [Int]) -> [UInt8] {
    var (data, bits, count): ([UInt8], Int, Int) = ([], 0, 0)
    for code in [1 << codeSize] + indexes + [1 << codeSize + 1] {
      bits |= code << count
      count += codeSize + 1
      while count >= 8 {
        data.append(UInt8(bits & 255))
        bits >>= 8
        count -= 8
      }
    }
    if count > 0 { data.append(UInt8(bits)) }
    let colours = (0..<256).flatMap { [UInt8($0), UInt8(255 - $0), UInt8($0 / 2)] }
    let (width, height) = (UInt8(size.width), UInt8(size.height))
    let blocks = stride(from: 0, to: data.count, by: 255).flatMap { start in
      let block = data[start...].prefix(255)
      return [UInt8(block.count)] + block
    }
    return Array("GIF89a".utf8) + [width, 0, height, 0, 0xF7, 0, 0] + colours
      + [0x2C, 0, 0, 0, 0, width, 0, height, 0, 0, UInt8(codeSize)] + blocks + [0, 0x3B]
  }

  @Test(arguments: 8...11)
  func
    `a GIF with a code size that only 2048 colours would need has the pixels that giftopnm reads`(
      codeSize: Int
    ) throws
  {
    let size = PixelSize(20, 12)
    let bytes = Self.plain(codeSize: codeSize, size, (0..<240).map { $0 * 7 % 256 })
    let wanted = try #require(PortableMap(Tool.run("giftopnm", bytes)))
    #expect(wanted.colour(1, 0).prefix(3) == [7, 248, 3])
    let picture = try GIFPicture(SourceFile(bytes: bytes), limits: Limits())
    let raster = try FrameResampler(whole: size).resample(picture.rows, inLight: false)
    #expect(picture.isWhole)
    for place in 0..<240 {
      let pixel = raster.colour(place % 20, place / 20)
      #expect(
        [pixel.x, pixel.y, pixel.z].map(Int.init)
          == Array(wanted.colour(place % 20, place / 20).prefix(3)))
    }
  }

  @Test(arguments: [(12, [1]), (0, [1]), (8, [])])
  func `a GIF of which no pixel can be read is refused, not shown black`(
    codeSize: Int, indexes: [Int]
  ) throws {
    let bytes = Self.plain(codeSize: codeSize, PixelSize(20, 12), indexes)
    for refused in [
      #expect(throws: ImagingError.self, performing: { try Facts(SourceFile(bytes: bytes)) }),
      #expect(
        throws: ImagingError.self, performing: { try PictureRenderer.render(bytes, ("width", "5")) }
      ),
    ] {
      #expect(
        refused?.reason
          == "This GIF is damaged: nothing of its first picture can be read. Export it again.")
    }
  }

  @Test(arguments: [(0, "width"), (2, "height")])
  func `a GIF without width or height is refused, and says so`(offset: Int, missing: String)
    throws
  {
    // What is left of a picture that was written to a canvas without room.
    var bytes = Array(try Self.gif(Canvas.quadrants(30, 20)).dropLast())
    bytes[6 + offset] = 0
    let refused = #expect(throws: ImagingError.self) { try Facts(SourceFile(bytes: bytes)) }
    #expect(
      refused?.reason == "This picture is damaged: it has no \(missing). Export it again.")
  }

  @Test func `its first picture is cut to the size asked for`() throws {
    let bytes = Self.moving(try Self.gif(Canvas.scene(300, 200)))
    let rendition = try PictureRenderer.render(bytes, ("width", "60"))
    #expect(rendition.mediaType == "image/jpeg" && rendition.size == PixelSize(60, 40))
    let drawing = try PictureRenderer.render(Self.gif(Canvas.quadrants(300, 200)), ("width", "60"))
    #expect(drawing.mediaType == "image/png")
    #expect(try Decoded(drawing.encoded)[5, 5].prefix(3) == [255, 0, 0])
  }

  @Test func `what can be seen through stays so`() throws {
    let bytes = try Self.gif(Canvas.quadrants(300, 200), "-transparent=red")
    let pixels = try Decoded(PictureRenderer.render(bytes, ("width", "60")).encoded)
    #expect(pixels[5, 5] == [0, 0, 0, 0] && pixels[55, 35] == [255, 255, 255, 255])
  }

  @Test(arguments: DeviceProfile.allCases)
  func `a moving GIF goes as it is to the profiles that play it, others get a picture`(
    profile: DeviceProfile
  ) throws {
    let bytes = Self.moving(try Self.gif(Canvas.quadrants(2000, 120)))
    #expect(bytes.count < profile.maximumBytes)
    let rendition = try PictureRenderer.render(bytes, ("profile", profile.rawValue))
    if profile == .ios || profile == .web {
      #expect(rendition.isOriginal && rendition.mediaType == "image/gif")
    } else {
      #expect(rendition.mediaType == "image/png" && rendition.byteCount <= profile.maximumBytes)
      #expect(rendition.size.width == profile.box.width)
    }
    let small = try PictureRenderer.render(bytes, ("profile", profile.rawValue), ("width", "64"))
    #expect(small.mediaType == "image/png" && small.size.width == 64)
  }

  @Test
  func
    `a moving PNG goes as it is to the profiles that play it, thumbnails show its first picture`()
    throws
  {
    let bytes = try Tool.run(
      "ffmpeg -v error -f lavfi -i testsrc=size=2000x120:rate=2:duration=1 -f apng out.png; "
        + "cat out.png")
    for profile in DeviceProfile.allCases {
      let rendition = try PictureRenderer.render(bytes, ("profile", profile.rawValue))
      #expect(rendition.isOriginal == (profile == .ios || profile == .web))
    }
    let small = try PictureRenderer.render(bytes, ("profile", "ios"), ("width", "100"))
    #expect(try Decoded(small.encoded).size == PixelSize(100, 6))
    #expect(try PictureRenderer.render(bytes).isOriginal)
  }

  @Test func `above the byte limit it becomes a picture below it`() throws {
    let bytes = Self.moving(try Self.gif(Canvas.scene(300, 200)))
    let rendition = try PictureRenderer.render(
      bytes, ("profile", "ios"), ("max-bytes", "\(bytes.count - 1)"))
    #expect(rendition.mediaType == "image/jpeg" && rendition.byteCount < bytes.count)
  }

  @Test func `facts say that it moves and can be seen through`() throws {
    let still = try Facts(SourceFile(bytes: Self.gif(Canvas.quadrants(30, 20), "-transparent=red")))
    #expect(still.isTransparent && !still.isAnimated && still.advice.isEmpty)
    let moving = try Facts(SourceFile(bytes: Self.moving(Self.gif(Canvas.quadrants(30, 20)))))
    #expect(moving.isAnimated && moving.advice.isEmpty)
  }

  @Test func `it moves only if its second picture can be read`() throws {
    let first = Array(try Self.gif(Canvas.quadrants(30, 20)).dropLast())
    func image(_ width: UInt8, _ data: [UInt8]) -> [UInt8] {
      [0x2C, 0, 0, 0, 0, width, 0, 1, 0, 0] + data
    }
    let pixel: [UInt8] = [2, 2, 0x44, 0x01, 0]
    let seconds = [
      "without width": image(0, pixel), "without data": image(1, [2, 0]),
      "unreadable": image(1, [13, 1, 0, 0]), "cut short": image(9, pixel),
    ]
    for (what, second) in seconds {
      let facts = try Facts(SourceFile(bytes: first + second + [0x3B]))
      #expect(!facts.isAnimated, "\(what)")
      #expect(facts.advice.isEmpty == (what == "without width"), "\(what)")
    }
    let skipped = first + image(0, pixel) + image(1, pixel) + [0x3B]
    #expect(try Facts(SourceFile(bytes: skipped)).isAnimated)
  }

  @Test func `broken codes are shown as far as they go`() throws {
    var bytes = try Self.gif(Canvas.scene(60, 40))
    let middle = bytes.count / 2 + 300
    bytes.replaceSubrange(middle..<middle + 60, with: [UInt8](repeating: 0xFF, count: 60))
    let rendition = try? PictureRenderer.render(bytes, ("width", "30"))
    #expect(rendition == nil || rendition?.size == PixelSize(30, 20))
  }
}
