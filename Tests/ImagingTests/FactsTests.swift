import Testing

import MediaTypes
@testable import Imaging

@Suite struct FactsTests {
  @Test func `the size is the upright one`() throws {
    let bytes = Surgery.jpeg(try Canvas.scene(90, 60).jpeg(), turned: .clockwise)
    let facts = try Facts(SourceFile(bytes: bytes))
    #expect(facts.size == PixelSize(60, 90))
    #expect(facts.kind == .jpeg)
    #expect(facts.advice.isEmpty)
  }

  @Test func `transparency is told`() throws {
    #expect(try Facts(SourceFile(bytes: Canvas.disc(20).png(alpha: true))).isTransparent)
    #expect(try !Facts(SourceFile(bytes: Canvas.scene(20, 20).png())).isTransparent)
  }

  @Test func `damage in the middle is advice, not a refusal`() throws {
    var bytes = try Canvas.scene(300, 200).jpeg()
    let middle = bytes.count * 2 / 3
    bytes.replaceSubrange(middle..<middle + 40, with: [UInt8](repeating: 0x5A, count: 40))
    bytes.replaceSubrange(middle + 60..<middle + 62, with: [0xFF, 0xD3])
    let facts = try Facts(SourceFile(bytes: bytes))
    #expect(!facts.advice.isEmpty)
    #expect(try PictureRenderer.render(bytes, ("width", "100")).size == PixelSize(100, 67))
  }
}
