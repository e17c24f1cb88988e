import Foundation
import Testing

/// Pictures of every format, turned in every way, beside other decoders and libvips's thumbnails
/// (`Independent/compare.py`): about 70, or 200 in `make soak`.
@Suite(.timeLimit(.minutes(30))) struct IndependentDecoderSoakTests {
  @Test func `renditions look like those of independent decoders, and no worse than libvips's`()
    throws
  {
    let root = Tool.root.path
    let program = "\(root)/Tests/ImagingTests/Independent/compare.py"
    let text = try Tool.text("python \(program) \(root)/.build/debug/img || echo failed")
    print(text)
    let lines = text.split(separator: "\n")
    #expect(lines.last?.hasSuffix(" pictures") == true)
    #expect(lines.count { $0.contains("MISSED") } == 0, "\(lines.filter { $0.contains("MISSED") })")
    #expect(lines.count { $0.hasPrefix("JPEG turned") } >= 10)
  }
}
