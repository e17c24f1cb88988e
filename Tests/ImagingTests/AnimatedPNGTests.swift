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

  // MARK: - What browsers play, and what they do not

  /// The colour that a rendition shows first, and whether it has anything of an animation.
  private static func shown(
    _ bytes: [UInt8], _ options: (String, String)...
  ) throws -> (colour: [UInt8], moves: Bool) {
    let sent = try PictureRenderer.render(bytes, options).bytes(from: SourceFile(bytes: bytes))
    let types = Set(Chunks(png: SourceFile(bytes: sent)).map(\.id))
    let pixels = try Decoded(sent)
    let colour = pixels[16, 16].prefix(3).map(UInt8.init)
    return (colour, !types.isDisjoint(with: ["acTL", "fcTL", "fdAT"]))
  }

  private typealias P = PNGFrames

  /// With a mistake that makes browsers show a still picture, differ, or show nothing.
  private static let broken: [String: [P.Part]] = [
    "a first frame smaller than the picture": [
      P.header, P.announcement(2), P.control(0, PixelSize(16, 16)), P.picture(P.red), P.control(1),
      P.frame(2, P.blue), P.end,
    ],
    "no frame": [P.header, P.announcement(2), P.picture(P.red), P.end],
    "a number left out": [
      P.header, P.announcement(2), P.control(0), P.picture(P.red), P.control(1), P.frame(3, P.blue),
      P.end,
    ],
    "fewer frames than announced": [P.two[0], P.announcement(3)] + P.two[2...],
    "more frames than announced": [
      P.header, P.announcement(2), P.control(0), P.picture(P.red), P.control(1), P.frame(2, P.blue),
      P.control(3), P.frame(4, P.green), P.end,
    ],
    "two announcements": [P.two[0], P.announcement(3)] + P.two[1...],
    "a frame in front of the picture": [
      P.header, P.announcement(2), P.control(0), P.frame(1, P.blue), P.picture(P.red), P.control(2),
      P.frame(3, P.blue), P.end,
    ],
    "two frames for one picture": [
      P.header, P.announcement(2), P.control(0), P.control(1), P.picture(P.red), P.end,
    ],
    "a frame without pixels": [
      P.header, P.announcement(3), P.control(0), P.picture(P.red), P.control(1), P.control(2),
      P.frame(3, P.blue), P.end,
    ],
    "pixels of a frame for the picture": [
      P.header, P.announcement(2), P.control(0), P.picture(P.red), P.frame(1, P.blue), P.control(2),
      P.frame(3, P.blue), P.end,
    ],
    "a frame without width": [
      P.header, P.announcement(2), P.control(0), P.picture(P.red), P.control(1, PixelSize(0, 32)),
      P.frame(2, P.blue), P.end,
    ],
    "an unknown disposal": [
      P.header, P.announcement(2), P.control(0), P.picture(P.red), P.control(1, disposal: 3),
      P.frame(2, P.blue), P.end,
    ],
    "an unknown blending": [
      P.header, P.announcement(2), P.control(0), P.picture(P.red), P.control(1, blending: 2),
      P.frame(2, P.blue), P.end,
    ],
    "a chunk between the pixels of a frame": [
      P.header, P.announcement(2), P.control(0), P.picture(P.red), P.control(1),
      ("fdAT", P.numbers(2) + P.pixels(P.blue, P.size).prefix(9)),
      ("pHYs", P.numbers(1, 1) + [1]),
      ("fdAT", P.numbers(3) + P.pixels(P.blue, P.size).dropFirst(9)), P.end,
    ],
  ]

  @Test(arguments: broken.keys)
  func `an animation that not all browsers play is refused, and never sent`(what: String) throws {
    let bytes = P.file(try #require(Self.broken[what]))
    #expect(
      Self.refusal(bytes)
        == "The animation in this PNG is damaged. Export it again, or save one picture of it.")
    // It may have been published by an older version.
    for profile in ["ios", "web", "thumb", "android"] {
      let (colour, moves) = try Self.shown(bytes, ("profile", profile))
      #expect(colour == P.red && !moves, "\(profile)")
    }
    #expect(try Self.shown(bytes) == (P.red, false))
  }

  @Test(arguments: ["fcTL", "fdAT"])
  func `a chunk of an animation with a wrong checksum is refused`(type: String) {
    #expect(Self.refusal(P.file(P.two, wrongCRC: type)) != nil)
  }

  @Test func `what announces no animation is a still picture, and is sent as one`() throws {
    let stills: [String: [UInt8]] = [
      "announced behind the picture": P.file([
        P.header, P.control(0), P.picture(P.red), P.announcement(2), P.control(1),
        P.frame(2, P.blue), P.end,
      ]),
      "not announced": P.file([P.header] + P.two[2...]),
      "announced with a wrong checksum": P.file(P.two, wrongCRC: "acTL"),
      "no frames announced": P.file([P.header, P.announcement(0)] + P.two[2...]),
      "one frame": P.file([P.header, P.announcement(1)] + P.two[2...3] + [P.end]),
      "one announced, none there": P.file([P.header, P.announcement(1), P.picture(P.red), P.end]),
      "one announced, two there": P.file([P.header, P.announcement(1)] + P.two[2...]),
    ]
    for (what, bytes) in stills {
      let facts = try Facts(SourceFile(bytes: bytes))
      #expect(!facts.isAnimated, "\(what)")
      let hasFrames = Chunks(png: SourceFile(bytes: bytes)).contains { $0.id == "fdAT" }
      #expect(
        facts.advice
          == (hasFrames
            ? [
              "Browsers don't play the animation in this PNG, so it is sent as a still picture. "
                + "Export it again if it is to move."
            ] : []),
        "\(what)")
      #expect(try Self.shown(bytes) == (P.red, false), "\(what)")
      for profile in DeviceProfile.allCases {
        let shown = try Self.shown(bytes, ("profile", profile.rawValue))
        #expect(shown == (P.red, false), "\(what), \(profile)")
      }
    }
  }

  @Test func `an animation moves for those who play it, and is its first frame for the others`()
    throws
  {
    for (parts, first) in [(P.two, P.red), (P.twoBehindPicture, P.green)] {
      let bytes = P.file(parts)
      #expect(try Facts(SourceFile(bytes: bytes)).isAnimated)
      #expect(try PictureRenderer.render(bytes).isOriginal)
      for profile in DeviceProfile.allCases {
        let (colour, moves) = try Self.shown(bytes, ("profile", profile.rawValue))
        #expect(moves == profile.plays)
        #expect(moves || colour == first, "\(profile)")
      }
      let small = try PictureRenderer.render(bytes, ("profile", "web"), ("width", "8"))
      #expect(try Decoded(small.encoded)[4, 4] == first.map(Int.init))
    }
  }

  @Test func `one frame behind the PNG's own picture is what is shown`() throws {
    let parts = [P.header, P.announcement(1)] + P.twoBehindPicture[2...4] + [P.end]
    let bytes = P.file(parts)
    let facts = try Facts(SourceFile(bytes: bytes))
    #expect(!facts.isAnimated && facts.advice.isEmpty)
    #expect(try Self.shown(bytes) == (P.green, false))
    #expect(try Self.shown(bytes, ("profile", "thumb")) == (P.green, false))
  }

  @Test func `a first frame that is a part of the picture leaves the PNG's own to stand for it`()
    throws
  {
    let part = PixelSize(16, 16)
    let bytes = P.file([
      P.header, P.announcement(2), P.picture(P.red), P.control(0, part, x: 8, y: 8),
      P.frame(1, P.green, part), P.control(2), P.frame(3, P.blue), P.end,
    ])
    #expect(try Facts(SourceFile(bytes: bytes)).isAnimated)
    #expect(try Self.shown(bytes, ("profile", "thumb")) == (P.red, false))
  }

  @Test func `an animation that is announced with numbers of 32 bits is a still picture`() throws {
    for parts in [P.two, P.twoBehindPicture] {
      for numbers in [P.numbers(2, 1 << 31), P.numbers(1 << 31 + 2, 0)] {
        let bytes = P.file([P.header, ("acTL", numbers)] + parts.dropFirst(2))
        #expect(try !Facts(SourceFile(bytes: bytes)).isAnimated)
        #expect(try Self.shown(bytes) == (P.red, false))
      }
    }
  }

  @Test func `the frame that stands for a PNG stands where the PNG's own pixels were`() throws {
    let pixels = P.pixels(P.green, P.size)
    let bytes = P.file([
      P.header, P.announcement(1), P.picture(P.red), ("eXIf", []), P.control(0),
      ("fdAT", P.numbers(1) + pixels.prefix(9)), ("tEXt", Array("Author\0secret".utf8)),
      ("fdAT", P.numbers(2) + pixels.dropFirst(9)), P.end,
    ])
    let source = SourceFile(bytes: bytes)
    let still = PNGAnimation.still(of: source, showing: PNGAnimation(source)?.stillFrame)
    #expect(Chunks(png: still).map(\.id) == ["IHDR", "IDAT", "IDAT", "eXIf", "tEXt", "IEND"])
    for profile in DeviceProfile.allCases {
      #expect(try Self.shown(bytes, ("profile", profile.rawValue)) == (P.green, false))
    }
  }

  @Test func `text between the pixels of a frame is removed, and the animation stays`() throws {
    let pixels = P.pixels(P.blue, P.size)
    let bytes = P.file([
      P.header, P.announcement(2), P.control(0), P.picture(P.red), P.control(1),
      ("fdAT", P.numbers(2) + pixels.prefix(9)), ("tEXt", Array("Author\0SECRET".utf8)),
      ("fdAT", P.numbers(3) + pixels.dropFirst(9)), P.end,
    ])
    #expect(try Facts(SourceFile(bytes: bytes)).isAnimated)
    let sent = try PictureRenderer.render(bytes).bytes(from: SourceFile(bytes: bytes))
    #expect(!sent.contains("SECRET"))
    #expect(try Facts(SourceFile(bytes: sent)).isAnimated)
  }
}
