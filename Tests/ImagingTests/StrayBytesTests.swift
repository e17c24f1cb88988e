import Testing

import MediaTypes
@testable import Imaging

/// JPEGs with bytes between their segments that belong to none, as phones and programs write them.
@Suite struct StrayBytesTests {
  private static func jpeg(_ flags: String = "-restart 2B") throws -> [UInt8] {
    try Tool.run("cjpeg -quality 90 \(flags)", PortableMap.bytes(of: Canvas.scene(90, 60)))
  }

  /// Each is written so many times.
  private static let strays: [([UInt8], Int)] = [
    ([0], 1), ([0], 18), ([0x55], 1), ([0x12, 0x34, 0x56], 1), ([0xFF, 0x00], 2),
    ([0xFF, 0xD3, 7], 1), ([0xFF, 0x01], 1), ([0x41], 70_000), ([0x61, 0x62], 1),
    ([0xFF, 0xFF, 0x00, 0xFF], 1),
  ]

  private static func repeating(_ stray: [UInt8], _ count: Int) -> [UInt8] {
    Array(repeatElement(stray, count: count).joined())
  }

  /// Where the segments begin, but for the first, which makes the file look like a JPEG, and coded data.
  private static func places(in jpeg: [UInt8]) -> [Int] {
    JPEGSegments(SourceFile(bytes: jpeg)).dropFirst(2).filter { $0.marker != 0 }
      .map(\.range.lowerBound)
  }

  private static func difference(
    _ made: RenderedPicture, of source: [UInt8], from plain: [UInt8]
  ) throws -> Int {
    try Decoded(made.bytes(from: SourceFile(bytes: source)))
      .largestDifference(from: Decoded(plain))
  }

  @Test(arguments: strays)
  func `bytes between segments are passed over, wherever they are`(
    some: [UInt8], count: Int
  ) throws {
    let stray = Self.repeating(some, count)
    for jpeg in [try Self.jpeg(), try Self.jpeg("-progressive")] {
      for place in Self.places(in: jpeg) {
        var bytes = jpeg
        bytes.insert(contentsOf: stray, at: place)
        #expect(try Facts(SourceFile(bytes: bytes)).size == PixelSize(90, 60))
        for options in [[], [("profile", "ios")]] {
          let made = try PictureRenderer.render(bytes, options)
          #expect(made.size == PixelSize(90, 60))
          #expect(try Self.difference(made, of: bytes, from: jpeg) == 0, "\(place)")
        }
        let thumb = try PictureRenderer.render(bytes, ("width", "30"))
        let plain = try PictureRenderer.render(jpeg, ("width", "30"))
        #expect(try Self.difference(thumb, of: bytes, from: plain.encoded) == 0, "\(place)")
      }
    }
  }

  @Test func `what is sent has none of the bytes before the first scan`() throws {
    let jpeg = try Self.jpeg()
    var bytes = jpeg
    let first = Self.places(in: jpeg)[1]
    bytes.insert(contentsOf: Array("SECRET".utf8), at: first)
    let made = try PictureRenderer.render(bytes)
    #expect(made.bytes(from: SourceFile(bytes: bytes)).elementsEqual(jpeg))
    #expect(made.steps.contains { $0.detail.contains("stray bytes") })
    #expect(try Facts(SourceFile(bytes: bytes)).advice.isEmpty)
  }

  @Test(arguments: [0, 1, 12, 13, 14])
  func `a segment whose length is too small hides nothing behind it`(length: UInt8) throws {
    let jpeg = try Self.jpeg()
    let content = Array("Photoshop 3\0".utf8)
    for marker: UInt8 in [0xE0, 0xED, 0xFE] {
      let bytes = Array(
        jpeg.prefix(2) + [0xFF, marker, 0, length] + content + jpeg.dropFirst(2))
      let made = try PictureRenderer.render(bytes)
      #expect(try Self.difference(made, of: bytes, from: jpeg) == 0)
      let sent = made.bytes(from: SourceFile(bytes: bytes))
      #expect(marker == 0xE0 || !sent.contains("Photoshop"))
    }
  }

  @Test(arguments: strays)
  func `orientation, profile and size behind such bytes are found`(
    some: [UInt8], count: Int
  ) throws {
    let stray = Self.repeating(some, count)
    let profile = ICC.profile(swapping: true)
    let turned = Surgery.jpeg(
      Surgery.jpeg(try Self.jpeg(), profile: profile), turned: .clockwise, secret: "SECRET")
    // Behind a segment of its own, so that the file looks like a JPEG.
    let bytes = [0xFF, 0xD8, 0xFF, 0xFE, 0, 4, 0x20, 0x20] + stray + turned.dropFirst(2)
    let source = SourceFile(bytes: bytes)
    #expect(PixelSize.read(source) == PixelSize(60, 90))
    #expect(try Facts(source).size == PixelSize(60, 90))
    let metadata = try Metadata(source, kind: .jpeg, limits: Limits())
    #expect(metadata.orientation == .clockwise && metadata.profile == profile)
    let sent = SourceFile(bytes: try PictureRenderer.render(bytes).bytes(from: source))
    let kept = try Metadata(sent, kind: .jpeg, limits: Limits())
    #expect(kept.orientation == .clockwise && kept.profile == profile)
    #expect(try PictureRenderer.render(bytes, ("profile", "ios")).size == PixelSize(60, 90))
  }

  @Test func `a file of stray bytes is read in linear time`() {
    let head: [UInt8] = [0xFF, 0xD8, 0xFF, 0xFE, 0, 2]
    let patterns: [[UInt8]] = [[0xFF], [0xFF, 0], [0], [0xFF, 0xD0], [0, 0xFF, 0xE5, 0, 2]]
    for pattern in patterns {
      // With a read of a block for each, this would take minutes.
      let bytes = head + Array(repeatElement(pattern, count: 2_000_000 / pattern.count).joined())
      let reads = CountedReads(bytes: bytes)
      for _ in JPEGSegments(reads) {}
      #expect(reads.count < 20 * bytes.count, "\(pattern)")
    }
  }
}

/// Bytes that count how many of them are read.
private final class CountedReads: ByteSource, @unchecked Sendable {  // of one test
  private let bytes: [UInt8]
  private(set) var count = 0

  init(bytes: [UInt8]) { self.bytes = bytes }

  var size: Int { bytes.count }

  func read(at offset: Int, count: Int) -> [UInt8] {
    let part = bytes.read(at: offset, count: count)
    self.count += part.count
    return part
  }
}
