import Foundation
import Testing

import MediaTypes
@testable import Imaging

/// Animations in PNGs, as ffmpeg writes them.
@Suite struct AnimatedPNGTests {
  /// Four frames; each but the first is a part of the picture.
  private static func animation(_ size: String = "64x48", rate: Int = 4) throws -> [UInt8] {
    // The number of frames is only known, and written, at the end: into a file, not into a pipe.
    try Tool.run(
      "ffmpeg -v error -f lavfi -i testsrc=size=\(size):rate=\(rate):duration=1 -f apng out.png; "
        + "cat out.png")
  }

  private static func refusal(_ bytes: [UInt8]) -> String? {
    do {
      _ = try Facts(SourceFile(bytes: bytes))
      return nil
    } catch {
      return error.reason
    }
  }

  /// The file with every chunk of a type changed, or left out, and with the right CRC.
  private static func changing(
    _ type: String, in bytes: [UInt8], _ change: (inout [UInt8]) -> Bool
  ) -> [UInt8] {
    let source = SourceFile(bytes: bytes)
    return bytes.prefix(8)
      + Chunks(png: source).flatMap { chunk in
        guard chunk.id == type else { return source.bytes(chunk.range) }
        var content = source.bytes(chunk.body)
        return change(&content) ? RawPNG.chunk(type, content) : []
      }
  }

  @Test func `a whole animation is taken, and is known to move`() throws {
    let facts = try Facts(SourceFile(bytes: Self.animation()))
    #expect(facts.isAnimated && facts.size == PixelSize(64, 48) && facts.advice.isEmpty)
  }

  @Test func `a broken animation is refused for what is broken`() throws {
    let whole = try Self.animation()
    let broken = [
      "the data of its frames": Self.changing("fdAT", in: whole) { content in
        for index in content.indices.dropFirst(10) { content[index] ^= 0x5A }
        return true
      },
      "no data": Self.changing("fdAT", in: whole) { _ in false },
      "too many frames": Self.changing("acTL", in: whole) { content in
        content[3] &+= 1
        return true
      },
      "no frames": Self.changing("fcTL", in: Self.changing("fdAT", in: whole) { _ in false }) { _ in
        false
      },
      "the order of its parts": Self.changing("fcTL", in: whole) { content in
        content[3] ^= 3
        return true
      },
      "a frame beyond the picture": Self.changing("fcTL", in: whole) { content in
        content[12] = 1
        return true
      },
      "a short control chunk": Self.changing("fcTL", in: whole) { content in
        content.removeLast(9)
        return true
      },
    ]
    for (what, bytes) in broken {
      #expect(
        Self.refusal(bytes)
          == "The animation in this PNG is damaged. Export it again, or save one picture of it.",
        "\(what)")
    }
  }

  @Test func `an animation of one frame is a picture`() throws {
    #expect(try !Facts(SourceFile(bytes: Self.animation(rate: 1))).isAnimated)
  }

  @Test func `one cut or changed anywhere gives a picture or a sentence`() throws {
    let whole = try Self.animation("8x6", rate: 2)
    for index in whole.indices.dropFirst(8) {
      for value: UInt8 in [0, 0x7F, 0xFF] {
        var bytes = whole
        bytes[index] = value
        #expect(Self.refusal(bytes)?.isEmpty != true)
      }
      #expect(Self.refusal(Array(whole.prefix(index))) != nil)
    }
  }
}
