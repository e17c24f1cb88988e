import Testing

import MediaTypes
@testable import Imaging

@Suite struct RefusalTests {
  private static func refusal(_ bytes: [UInt8]) -> ImagingError? {
    do {
      _ = try Facts(SourceFile(bytes: bytes))
      return nil
    } catch {
      return error
    }
  }

  @Test func `text that is named png is refused`() {
    #expect(Self.refusal(Array("Hello, I am not a picture".utf8))?.code == .unsupported)
  }

  @Test func `an empty file is refused`() {
    #expect(Self.refusal([])?.code == .unsupported)
  }

  @Test func `a truncated JPEG is refused, and says so`() throws {
    let bytes = try Canvas.scene(300, 200).jpeg()
    let error = Self.refusal(Array(bytes.prefix(bytes.count / 2)))
    #expect(error?.code == .damaged)
    #expect(error?.reason == "The picture is incomplete. Copy or export it again.")
  }

  @Test func `a truncated PNG is refused, and says so`() throws {
    let bytes = try Canvas.scene(300, 200).png()
    let error = Self.refusal(Array(bytes.prefix(bytes.count / 2)))
    #expect(error?.code == .damaged)
    #expect(error?.reason == "The picture is incomplete. Copy or export it again.")
  }

  @Test func `a damaged picture's owner reads a plain sentence, and the log the codec's own text`()
    throws
  {
    var png = try Canvas.scene(300, 200).png()
    png[png.count / 2] ^= 0xFF
    var jpeg = try Canvas.scene(300, 200).jpeg()
    let frame = try #require(jpeg.indices.first { jpeg[$0...].starts(with: [0xFF, 0xC0]) })
    jpeg[frame + 4] = 77  // bits of a sample
    for (bytes, format) in [(png, "PNG"), (jpeg, "JPEG")] {
      let error = Self.refusal(bytes)
      #expect(error?.reason == "This \(format) is damaged. Export it again.")
      #expect(error?.detail?.isEmpty == false)
    }
  }

  @Test func `a PNG of 300 megapixels is refused by its header`() throws {
    var bytes = try Canvas.scene(8, 8).png()
    bytes.replaceSubrange(16..<24, with: [0, 0, 0x4E, 0x20, 0, 0, 0x3A, 0x98])  // 20000x15000
    bytes.replaceSubrange(8..<33, with: PNGChunk.bytes("IHDR", Array(bytes[16..<29])))
    let error = Self.refusal(bytes)
    #expect(error?.code == .tooLarge)
    #expect(error?.reason.contains("300.0 megapixels") == true)
  }

  @Test func `a JPEG that says it has 3 gigapixels is refused by its header`() throws {
    var bytes = try Canvas.scene(8, 8).jpeg()
    let frame = try #require(
      bytes.indices.first { bytes[$0...].starts(with: [0xFF, 0xC0]) })
    bytes.replaceSubrange(frame + 5..<frame + 9, with: [0xFF, 0xDC, 0xC3, 0x50])
    #expect(Self.refusal(bytes)?.code == .tooLarge)
  }

  @Test(arguments: [26, 27])
  func `a PNG of an unknown compression or filter method is refused in people's words`(offset: Int)
    throws
  {
    var bytes = try Canvas.scene(8, 8).png()
    bytes[offset] = 7
    bytes.replaceSubrange(8..<33, with: PNGChunk.bytes("IHDR", Array(bytes[16..<29])))
    #expect(
      Self.refusal(bytes)?.reason
        == "This PNG is compressed in a way that phones can't read. Export it again as PNG or JPEG."
    )
  }

  @Test func `a PNG from inside an iPhone app is told from a damaged one`() throws {
    var bytes = try Canvas.scene(8, 8).png()
    bytes.insert(contentsOf: RawPNG.chunk("CgBI", [0x50, 0, 0x20, 2]), at: 8)
    #expect(Self.refusal(bytes)?.reason.contains("was packed for an iPhone app") == true)
  }

  @Test func `a truncated GIF is refused`() {
    let head = Array("GIF89a".utf8) + [2, 0, 1, 0, 0x80, 0, 0, 255, 255, 255, 0, 0, 0]
    let image: [UInt8] = [0x2C, 0, 0, 0, 0, 2, 0, 1, 0, 0, 2, 2, 0x44, 0x0A, 0]
    #expect(Self.refusal(head + image)?.reason.contains("incomplete") == true)
    #expect(Self.refusal(head + image + [0x3B]) == nil)
  }

  @Test func `a file cut anywhere gives a picture or a sentence`() throws {
    let whole = [
      try Canvas.scene(40, 30).jpeg(), try Canvas.scene(24, 16).png(),
      try Canvas.disc(20).png(alpha: true),
      Surgery.jpeg(try Canvas.scene(20, 10).jpeg(), turned: .clockwise, secret: "camera"),
    ]
    for bytes in whole {
      for count in 0..<bytes.count {
        let cut = Array(bytes.prefix(count))
        #expect(Self.refusal(cut) != nil || count >= bytes.count - 1)
        let rendition = try? PictureRenderer.render(cut, ("width", "10"))
        if let rendition { #expect(rendition.size.width <= 10) }
      }
    }
  }
}
