import Testing

import MediaTypes
@testable import Imaging

/// One file of each kind, cut at every byte: a clear sentence or a picture.
@Suite struct TruncationTests {
  private static let scene = Canvas.scene(12, 9)

  private static func file(_ kind: String) throws -> [UInt8] {
    let map = PortableMap.bytes(of: scene)
    switch kind {
    case "APNG":
      return Surgery.png(try scene.png(), adding: "acTL", [0, 0, 0, 1, 0, 0, 0, 0])
    case "profile": return Surgery.jpeg(try scene.jpeg(), profile: ICC.profile(swapping: true))
    case "PNG profile":
      return Surgery.png(
        try scene.png(), adding: "iCCP", ICC.chunk(ICC.profile(swapping: true)))
    case "EXIF": return Surgery.jpeg(try scene.jpeg(), turned: .clockwise, secret: "camera")
    case "eXIf": return Surgery.png(try scene.png(), adding: "eXIf", Exif.tiff(.clockwise))
    case "CMYK": return try CMYK.jpeg(PixelSize(16, 16)) { x, y in [x * 9, y * 9, 20, 0] }
    case "pamtogif", "pamtogif -interlace":
      return try Tool.run("ppmquant 256 2>/dev/null | \(kind)", map)
    default: return try Tool.run(kind, map)
    }
  }

  @Test(arguments: [
    "cjpeg", "cjpeg -progressive", "cjpeg -arithmetic", "cjpeg -restart 1", "cjpeg -grayscale",
    "pnmtopng", "pnmtopng -interlace", "pamdepth 65535 | pnmtopng", "ppmquant 16 | pnmtopng",
    "pnmtopng -transparent =black", "pamtogif", "pamtogif -interlace", "APNG", "profile",
    "PNG profile", "EXIF", "eXIf", "CMYK",
  ])
  func `a file cut anywhere gives a picture or a sentence`(kind: String) throws {
    let bytes = try Self.file(kind)
    let whole = try Facts(SourceFile(bytes: bytes))
    for count in 0..<bytes.count {
      let cut = Array(bytes.prefix(count))
      do {
        let facts = try Facts(SourceFile(bytes: cut))
        #expect(facts.size == whole.size && count >= bytes.count - 1, "\(count)")
      } catch {
        #expect(error.reason.hasSuffix("."), "\(count)")
      }
      let options = [[], [("width", "7")], [("width", "7"), ("linear", "1")]][count % 3]
      do {
        let made = try PictureRenderer.render(cut, options)
        #expect(options.isEmpty || made.size.width <= 7, "\(count)")
      } catch let error as ImagingError {
        #expect(error.reason.hasSuffix("."), "\(count)")
      }
    }
  }
}
