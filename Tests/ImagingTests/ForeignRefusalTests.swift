import Foundation
import Testing

import MediaTypes
@testable import Imaging

/// Damaged and hostile HEIF, AVIF and WebP files.
@Suite(.timeLimit(.minutes(5))) struct ForeignRefusalTests {
  private static func whole(_ name: String) throws -> [UInt8] {
    switch name {
    case "HEIC": try Foreign.file(.scene(160, 120), "heif-enc a.png -o out.heic")
    case "AVIF": try Foreign.file(.scene(160, 120), "avifenc -s 8 a.png out.avif")
    case "WebP": try Foreign.file(.scene(160, 120), "cwebp -quiet a.png -o out.webp")
    default: try Foreign.file(.scene(160, 120), "cwebp -quiet -lossless a.png -o out.webp")
    }
  }

  @Test(arguments: ["HEIC", "AVIF", "WebP", "WebP without loss"])
  func `a file cut anywhere is refused with a sentence`(name: String) throws {
    let bytes = try Self.whole(name)
    #expect(try Foreign.refusal(bytes) == nil)
    for count in stride(from: 1, to: bytes.count - 1, by: max(1, bytes.count / 60)) {
      let error = try Foreign.refusal(Array(bytes.prefix(count)))
      #expect(error != nil, "\(count) of \(bytes.count)")
      #expect(error?.reason.hasSuffix(".") == true)
    }
    let error = try #require(try Foreign.refusal(Array(bytes.prefix(bytes.count * 3 / 4))))
    #expect(error.code == .damaged)
  }

  @Test(arguments: ["HEIC", "AVIF", "WebP", "WebP without loss"])
  func `a damaged file gives a picture or a sentence`(name: String) throws {
    let bytes = try Self.whole(name)
    var random = UInt64(7)
    func next(_ bound: Int) -> Int {
      random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(random >> 33) % bound
    }
    for _ in 0..<80 {
      var damaged = bytes
      for _ in 0...next(4) { damaged[12 + next(damaged.count - 12)] = UInt8(next(256)) }
      let error = try Foreign.refusal(damaged)
      #expect(error?.reason.isEmpty != true)
    }
  }

  @Test(arguments: [
    (60_000, 60_000, "This HEIC is too large. Export it smaller."),
    (31_000, 100, "the longest edge allowed is 30000"), (20_000, 10_000, "200.0 megapixels"),
    (9000, 8000, "This HEIC is too large. Export it smaller."),
  ])
  func `a HEIC that says it is large is refused by its header`(
    width: Int, height: Int, sentence: String
  ) throws {
    var bytes = try Self.whole("HEIC")
    let place = try #require(bytes.indices.first { bytes[$0...].starts(with: Array("ispe".utf8)) })
    bytes.replaceSubrange(
      place + 8..<place + 16, with: PNGChunk.bigEndian(width) + PNGChunk.bigEndian(height))
    let error = try #require(try Foreign.refusal(bytes))
    #expect(error.code == .tooLarge && error.reason.contains(sentence), "\(error.reason)")
  }

  @Test func `a picture larger than its header says is refused`() throws {
    var bytes = try Self.whole("HEIC")
    let place = try #require(bytes.indices.first { bytes[$0...].starts(with: Array("ispe".utf8)) })
    bytes.replaceSubrange(
      place + 8..<place + 16, with: PNGChunk.bigEndian(16) + PNGChunk.bigEndian(16))
    #expect(try Foreign.refusal(bytes) != nil)
  }

  @Test func `a WebP of a large canvas and a small picture is refused by its header`() throws {
    var bytes = try Foreign.file(
      .scene(8, 8),
      "cwebp -quiet a.png -o b.webp; webpmux -frame b.webp +1 -frame b.webp +1 -o out.webp")
    bytes.replaceSubrange(24..<30, with: [0xFF, 0x3F, 0, 0xFF, 0x3F, 0])  // 16384x16384
    let huge = try #require(try Foreign.refusal(bytes))
    #expect(huge.reason.contains("268.5 megapixels"), "\(huge)")
    bytes.replaceSubrange(24..<30, with: [0x27, 0x23, 0, 0x27, 0x23, 0])  // 9000x9000, RGBA
    let large = try #require(try Foreign.refusal(bytes))
    #expect(large.reason == "This WebP is too large. Export it smaller.", "\(large)")
  }

  @Test func `of an animation with many frames only the first is read`() throws {
    let frames = String(repeating: " -frame b.webp +1", count: 3000)
    let bytes = try Foreign.file(
      .scene(64, 64), "cwebp -quiet a.png -o b.webp; webpmux\(frames) -loop 0 -o out.webp")
    #expect(try Foreign.refusal(bytes) == nil)
  }

  @Test func `an AVIF film without a still picture is refused with what to do`() throws {
    var bytes = try Foreign.sample("pillow", "star.avifs")
    let place = try #require(bytes.indices.first { bytes[$0...].starts(with: Array("meta".utf8)) })
    bytes.replaceSubrange(place..<place + 4, with: "free".utf8)
    #expect(
      try Foreign.refusal(bytes)?.reason
        == "This AVIF is a film without a still picture. Export a still as JPEG, or a short clip as GIF."
    )
  }

  @Test func `boxes in boxes without end are refused`() throws {
    let depth = 20_000
    var bytes = PNGChunk.bigEndian(24) + Array("ftypheic\0\0\0\0mif1heic".utf8)
    bytes += PNGChunk.bigEndian(12 + 8 * depth) + Array("meta\0\0\0\0".utf8)
    for level in 0..<depth {
      bytes += PNGChunk.bigEndian(8 * (depth - level)) + Array("iprp".utf8)
    }
    #expect(try Foreign.refusal(bytes) != nil)
  }
}

/// What `img-decode` sends is not trusted.
@Suite struct DecodedStreamTests {
  /// A head and a status, and `rows` bytes.
  private static func stream(
    _ numbers: [UInt32], profile: Int = 0, status: UInt32 = 0, text: Int = 0, rows: Int = 0
  ) -> [UInt8] {
    func bytes(_ values: [UInt32]) -> [UInt8] {
      values.flatMap { value in withUnsafeBytes(of: value.littleEndian, Array.init) }
    }
    return Array("img1".utf8) + bytes(numbers + [0, UInt32(profile)])
      + [UInt8](repeating: 7, count: profile) + bytes([status, UInt32(text)])
      + [UInt8](repeating: 65, count: text) + [UInt8](repeating: 9, count: rows)
  }

  @Test func `whole rows are read`() {
    #expect(DecodedStream.error(reading: Self.stream([2, 3, 3, 8, 0], rows: 18)) == nil)
    #expect(
      DecodedStream.error(reading: Self.stream([2, 3, 4, 16, 0], profile: 5, rows: 48)) == nil)
  }

  @Test func `no output means that the format is not supported`() {
    #expect(DecodedStream.error(reading: [])?.code == .unsupported)
    #expect(
      DecodedStream.error(reading: Array("img2".utf8) + [UInt8](repeating: 1, count: 99))?.code
        == .unsupported)
  }

  @Test func `an output that ends early, or makes no sense, is a damaged picture`() {
    let whole = Self.stream([2, 3, 3, 8, 0], profile: 9, rows: 18)
    for count in 32..<whole.count {
      #expect(
        DecodedStream.error(reading: Array(whole.prefix(count)))?.code == .damaged, "\(count)")
    }
    for channels: UInt32 in [0, 1, 2, 5, .max] {
      #expect(
        DecodedStream.error(reading: Self.stream([2, 3, channels, 8, 0], rows: 99))?.code != nil)
    }
    #expect(DecodedStream.error(reading: Self.stream([0, 3, 3, 8, 0], rows: 9))?.code == .damaged)
    #expect(
      DecodedStream.error(reading: Self.stream([2, 3, 3, 8, 0], status: 77, rows: 18))?.code
        == .damaged)
  }

  @Test func `sizes beyond the limits are refused before memory is taken`() {
    for numbers: [UInt32] in [
      [.max, .max, .max, 16, 1], [30_000, 30_000, 3, 8, 0], [9000, 9000, 3, 16, 0],
    ] {
      #expect(DecodedStream.error(reading: Self.stream(numbers))?.code == .tooLarge)
    }
    var profiled = Self.stream([2, 3, 3, 8, 0])
    profiled.replaceSubrange(28..<32, with: [255, 255, 255, 255])
    #expect(DecodedStream.error(reading: profiled)?.code == .damaged)
  }

  /// The error for a status with a text.
  private static func error(status: UInt32, _ text: String) -> ImagingError? {
    let stream = Self.stream([0, 0, 0, 8, 0], status: status, text: text.utf8.count)
    return DecodedStream.error(reading: stream.dropLast(text.utf8.count) + Array(text.utf8))
  }

  @Test func `codings and properties are named, if their codes can be printed`() {
    let (coding, property): (UInt32, UInt32) = (6, 7)
    for (text, name) in [("jpeg", "JPEG"), ("zz12", "“zz12”"), ("<b>", "an unknown format")] {
      #expect(
        Self.error(status: coding, text)?.reason
          == "The picture in this HEIC is coded as \(name), which is not supported. "
          + "Export it as a JPEG file.")
    }
    for (text, name) in [
      ("iscl", "its property “iscl”"), ("a\nb\u{7}", "one of its properties"),
      ("\u{202E}ab", "one of its properties"), ("", "one of its properties"),
    ] {
      let error = Self.error(status: property, text)
      #expect(
        error?.reason
          == "This HEIC can't be shown without \(name), which is not supported. "
          + "Export it as a JPEG file.")
      #expect(error?.code == .unsupportedContent)
    }
  }

  @Test func `the decoder's own text is for the log`() {
    let error = DecodedStream.error(
      reading: Self.stream([0, 0, 0, 8, 0], status: 3, text: 100_000))
    #expect(error?.reason == "This HEIC is too large. Export it smaller.")
    #expect(error?.detail?.count == 200)
  }
}
