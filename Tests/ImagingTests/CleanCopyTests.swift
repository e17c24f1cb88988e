import Testing

import MediaTypes
@testable import Imaging

@Suite struct CleanCopyTests {
  private static func cleaned(_ bytes: [UInt8]) throws -> [UInt8] {
    let source = SourceFile(bytes: bytes)
    return CleanCopy(source, kind: try PictureKind(source)).bytes(of: source)
  }

  @Test func `a clean original is served bit for bit`() throws {
    for bytes in [try Canvas.scene(90, 60).jpeg(), try Canvas.disc(40).png(alpha: true)] {
      let rendition = try PictureRenderer.render(bytes)
      #expect(rendition.isOriginal)
      #expect(rendition.bytes(from: SourceFile(bytes: bytes)).elementsEqual(bytes))
    }
  }

  @Test func `private segments of a JPEG are cut and the pixels stay`() throws {
    let plain = try Canvas.scene(90, 60).jpeg()
    var bytes = Surgery.jpeg(plain, turned: .upright, secret: "SECRET gps 52.5 13.4")
    bytes = Surgery.jpeg(bytes, adding: 0xE1, Array("http://ns.adobe.com/xap/1.0/\0SECRET".utf8))
    bytes = Surgery.jpeg(bytes, adding: 0xED, Array("Photoshop 3.0\0SECRET".utf8))
    bytes = Surgery.jpeg(bytes, adding: 0xFE, Array("SECRET comment".utf8))
    bytes += Array("SECRET movie".utf8)
    #expect(try Self.cleaned(bytes).elementsEqual(plain))
  }

  @Test func `the end marker stays behind fill bytes`() throws {
    let plain = try Canvas.scene(90, 60).jpeg()
    let filled = plain.dropLast(2) + [0xFF, 0xFF, 0xFF, 0xFF, 0xD9]
    #expect(try Self.cleaned(filled + Array("SECRET".utf8)).elementsEqual(filled))
  }

  @Test func `the orientation survives the cut, alone`() throws {
    let plain = try Canvas.scene(90, 60).jpeg()
    let bytes = Surgery.jpeg(plain, turned: .clockwise, secret: "SECRET serial number")
    let copy = try Self.cleaned(bytes)
    #expect(!copy.contains("SECRET"))
    let metadata = try Metadata(SourceFile(bytes: copy), kind: .jpeg, limits: Limits())
    #expect(metadata.orientation == .clockwise)
    #expect(try Self.cleaned(copy).elementsEqual(copy))
  }

  @Test func `text of a PNG is cut, its orientation survives`() throws {
    var bytes = try Canvas.disc(40).png(alpha: true)
    bytes = Surgery.png(bytes, adding: "tEXt", Array("Author\0SECRET".utf8))
    bytes = Surgery.png(bytes, adding: "eXIf", Surgery.exif(.flipped, secret: "SECRET"))
    let copy = try Self.cleaned(bytes + Array("SECRET".utf8))
    #expect(!copy.contains("SECRET"))
    #expect(
      try Metadata(SourceFile(bytes: copy), kind: .png, limits: Limits()).orientation == .flipped)
    #expect(try Decoded(copy).size == PixelSize(40, 40))
  }

  @Test func `unknown chunks of a PNG are cut, and named together however many types they have`()
    throws
  {
    let plain = try Canvas.disc(40).png(alpha: true)
    let chunks = (0..<3).flatMap { RawPNG.chunk("abC\($0)", Array("SECRET".utf8)) }
    let source = SourceFile(bytes: plain.prefix(33) + chunks + plain.dropFirst(33))
    let copy = CleanCopy(source, kind: .png)
    #expect(copy.bytes(of: source).elementsEqual(plain))
    #expect(copy.removed == ["other chunks"])
  }

  @Test func `comments of a GIF are cut and its loop stays`() throws {
    let head = Array("GIF89a".utf8) + [2, 0, 1, 0, 0x80, 0, 0, 255, 255, 255, 0, 0, 0]
    let loop = [0x21, 0xFF, 11] + Array("NETSCAPE2.0".utf8) + [3, 1, 0, 0, 0]
    let comment = [0x21, 0xFE, 6] + Array("SECRET".utf8) + [0]
    let image: [UInt8] = [0x2C, 0, 0, 0, 0, 2, 0, 1, 0, 0, 2, 2, 0x44, 0x0A, 0, 0x3B]
    let copy = try Self.cleaned(head + loop + comment + image + Array("SECRET".utf8))
    #expect(copy.elementsEqual(head + loop + image))
  }

  @Test func `a rendition carries none of it`() throws {
    let bytes = Surgery.jpeg(
      try Canvas.scene(300, 200).jpeg(), turned: .clockwise, secret: "SECRET")
    let rendition = try PictureRenderer.render(bytes, ("width", "64"))
    #expect(!rendition.encoded.contains("SECRET") && !rendition.encoded.contains("Exif"))
  }
}
