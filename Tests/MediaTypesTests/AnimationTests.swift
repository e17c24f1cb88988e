import MediaTypes
import Testing

@Suite struct AnimationTests {
  private static func gif(_ frames: Int, width: UInt8 = 1) -> [UInt8] {
    let frame: [UInt8] = [0x2C, 0, 0, 0, 0, width, 0, 1, 0, 0, 2, 1, 0, 0]
    return Array("GIF89a".utf8) + [1, 0, 1, 0, 0, 0, 0] + (0..<frames).flatMap { _ in frame }
      + [0x3B]
  }

  private static func box(_ name: String, _ content: [UInt8]) -> [UInt8] {
    [0, 0, 0, UInt8(content.count)] + Array(name.utf8) + content
  }

  private static func png(_ chunks: [[UInt8]]) -> [UInt8] {
    [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + chunks.flatMap { $0 + [0, 0, 0, 0] }
  }

  private static func webP(_ frames: Int) -> [UInt8] {
    Array("RIFF\0\0\0\0WEBPVP8X\u{4}\0\0\0\u{2}\0\0\0".utf8)
      + (0..<frames).flatMap { _ in Array("ANMF\u{2}\0\0\0ab".utf8) }
  }

  private static func film(_ brands: String) -> [UInt8] {
    let name = Array(("ftypheic\0\0\0\0" + brands).utf8)
    return [0, 0, 0, UInt8(name.count + 4)] + name
  }

  private static let control: [UInt8] = [0, 0, 0, 2, 0, 0, 0, 0]
  private static let moving = [
    gif(2), gif(9), png([box("acTL", control), box("IDAT", [1])]), webP(2),
    film("mif1msf1"), film("avis"),
  ]
  private static let still = [
    gif(0), gif(1), gif(2, width: 0), png([box("IDAT", [1])]),
    png([box("IDAT", [1]), box("acTL", control)]),
    png([box("acTL", [0, 0, 0, 1, 0, 0, 0, 0]), box("IDAT", [1])]), webP(0), webP(1),
    png([box("acTL", [0, 0, 0, 0, 0, 0, 0, 0]), box("IDAT", [1])]), png([box("acTL", [0, 2])]),
    film("mif1heic"), film(""), [0xFF, 0xD8, 0xFF], [], Array("RIFF".utf8),
  ]

  @Test(arguments: moving) func `more than one frame is an animation`(bytes: [UInt8]) {
    #expect(bytes.isAnimation)
    #expect((0...bytes.count).contains { !Array(bytes.prefix($0)).isAnimation })
  }

  @Test(arguments: still) func `one frame or none is not`(bytes: [UInt8]) {
    #expect(!bytes.isAnimation)
  }
}
