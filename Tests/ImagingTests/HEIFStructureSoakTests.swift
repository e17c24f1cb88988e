import Foundation
import Testing

/// HEIF and AVIF files whose items refer to each other in all ways, beside pillow-heif and libavif
/// (`Independent/heif_structures.py`).
///
/// With a fixed seed for 20 seconds; in `make soak` with a random one, which is printed, for ten minutes.
@Suite(.timeLimit(.minutes(30))) struct HEIFStructureSoakTests {
  @Test func `photos look as others show them, and hostile files end with a sentence`() throws {
    let isLong = ProcessInfo.processInfo.environment["RICHPUSH_SOAK"] != nil
    let (seconds, seed) = isLong ? (600, UInt32.random(in: .min ... .max)) : (20, 40)
    let root = Tool.root.path
    let program = "\(root)/Tests/ImagingTests/Independent/heif_structures.py"
    let text = try Tool.text(
      "python \(program) \(root)/.build/debug/img-decode \(seconds) \(seed)")
    print(text)
    #expect(text.contains("compared with pillow-heif") && text.contains("compared with libavif"))
    #expect(text.hasSuffix("all right\n"), "\(text)")
  }
}
