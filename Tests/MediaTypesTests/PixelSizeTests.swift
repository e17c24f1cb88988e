import MediaTypes
import Testing

@Suite struct PixelSizeTests {
  @Test func `reads the sizes of the forms a phone meets`() {
    let png = Self.bytes("\u{89}PNG\r\n\u{1A}\n\0\0\0\rIHDR\0\0\u{1}\u{40}\0\0\0\u{F0}")
    #expect(PixelSize.read(png)?.description == "320x240")
    let gif = Self.bytes("GIF89a\u{40}\u{1}\u{F0}\0")
    #expect(PixelSize.read(gif)?.description == "320x240")
    let webP = Self.bytes("RIFF\0\0\0\0WEBPVP8X\u{A}\0\0\0\0\0\0\0\u{3F}\u{1}\0\u{EF}\0\0")
    #expect(PixelSize.read(webP)?.description == "320x240")
  }

  @Test func `finds the frame header of a JPEG behind other segments`() {
    let head = Self.bytes("\u{FF}\u{D8}\u{FF}\u{E1}\0\u{6}abcd\u{FF}\u{FF}")
    let frame = Self.bytes("\u{C2}\0\u{11}\u{8}\0\u{F0}\u{1}\u{40}\u{3}")
    #expect(PixelSize.read(head + frame)?.description == "320x240")
    #expect(PixelSize.read(head) == nil)
    #expect(PixelSize.read(head + [0xDA] + frame) == nil)
  }

  @Test(arguments: [
    ("MM\0*\0\0\0\u{8}\0\u{1}\u{1}\u{12}\0\u{3}\0\0\0\u{1}\0\u{6}\0\0", "240x320"),
    ("II*\0\u{8}\0\0\0\u{1}\0\u{12}\u{1}\u{3}\0\u{1}\0\0\0\u{8}\0\0\0", "240x320"),
    ("MM\0*\0\0\0\u{8}\0\u{1}\u{1}\u{12}\0\u{3}\0\0\0\u{1}\0\u{3}\0\0", "320x240"),
    ("MM\0*\u{FF}\0\0\u{8}", "320x240"), ("", "320x240"),
    ("MM\0*\0\0\0\u{8}\0\u{1}\u{1}\u{12}\0\u{4}\0\0\0\u{1}\0\0\0\u{6}", "320x240"),
    ("II*\0\u{8}\0\0\0\u{1}\0\u{12}\u{1}\u{3}\0\u{2}\0\0\0\u{8}\0\0\0", "320x240"),
  ])
  func `reads a JPEG that EXIF turns upright`(tiff: String, size: String) {
    let exif = Self.bytes("Exif\0\0" + tiff)
    let head = Self.bytes("\u{FF}\u{D8}\u{FF}\u{E1}\0") + [UInt8(exif.count + 2)] + exif
    let frame = Self.bytes("\u{FF}\u{C0}\0\u{11}\u{8}\0\u{F0}\u{1}\u{40}\u{3}")
    #expect(PixelSize.read(head + frame)?.description == size)
    // Behind the frame header, but in front of the pixels.
    #expect(
      PixelSize.read(head.prefix(2) + frame + [UInt8](repeating: 0, count: 9) + head.dropFirst(2))?
        .description == size)
  }

  @Test func `reads a PNG and a WebP that EXIF turns upright`() {
    let exif = Exif.tiff(.clockwise)
    let head =
      Self.bytes("\u{89}PNG\r\n\u{1A}\n")
      + PNGChunk.bytes("IHDR", [0, 0, 1, 64, 0, 0, 0, 240, 8, 2, 0, 0, 0])
    let pixels = PNGChunk.bytes("IDAT", [])
    let turning = PNGChunk.bytes("eXIf", exif)
    #expect(PixelSize.read(head + turning + pixels)?.description == "240x320")
    #expect(PixelSize.read(head + pixels + turning)?.description == "320x240")
    let webP = Self.bytes("RIFF\0\0\0\0WEBPVP8X\u{A}\0\0\0\0\0\0\0\u{3F}\u{1}\0\u{EF}\0\0")
    let chunk = Self.bytes("EXIF\u{1A}\0\0\0") + exif
    #expect(PixelSize.read(webP + chunk)?.description == "240x320")
  }

  @Test func `gives no size for nothing, for zero and for text`() {
    #expect(PixelSize.read([UInt8]()) == nil)
    #expect(PixelSize.read(Self.bytes("GIF89a\0\0\u{F0}\0")) == nil)
    #expect(PixelSize.read(Self.bytes("hello")) == nil)
  }

  private static func bytes(_ text: String) -> [UInt8] {
    text.unicodeScalars.map { UInt8($0.value) }
  }
}
