import Foundation
import Testing

import MediaTypes
@testable import Imaging

/// Small HEIF files that would take much time or memory if all that they say was done.
@Suite(.timeLimit(.minutes(2))) struct ForeignBombTests {
  /// Boxes of ISO/IEC 14496-12 next to each other: their kinds and places.
  private static func boxes(_ bytes: [UInt8], _ range: Range<Int>) -> [(String, Range<Int>)] {
    var (result, start): ([(String, Range<Int>)], Int) = ([], range.lowerBound)
    while start + 8 <= range.upperBound {
      let size = bytes[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
      guard size >= 8, start + size <= range.upperBound else { break }
      result.append(
        (String(decoding: bytes[start + 4..<start + 8], as: UTF8.self), start..<start + size))
      start += size
    }
    return result
  }

  /// A HEIC in which a box of `meta` is another one.
  private static func replacing(_ kind: String, by box: [UInt8], in bytes: [UInt8]) throws
    -> [UInt8]
  {
    let meta = try #require(boxes(bytes, 0..<bytes.count).first { $0.0 == "meta" }).1
    var content = Array(bytes[meta.lowerBound + 8..<meta.lowerBound + 12])
    for (name, place) in boxes(bytes, meta.lowerBound + 12..<meta.upperBound) {
      content += name == kind ? box : Array(bytes[place])
    }
    return Array(bytes[..<meta.lowerBound]) + TiledHEIC.box("meta", content)
      + Array(bytes[meta.upperBound...])
  }

  private static func refusal(_ bytes: [UInt8]) throws -> ImagingError {
    let error = try #require(try Foreign.refusal(bytes))
    #expect(error.reason.hasSuffix("."))
    return error
  }

  private static func tiled() throws -> TiledHEIC {
    try TiledHEIC(
      .scene(128, 128), tile: PixelSize(64, 64), showing: PixelSize(128, 128))
  }

  @Test func `a picture that names its own bytes again and again is refused`() throws {
    let bytes = try Foreign.file(.scene(160, 120), "heif-enc a.png -o out.heic")
    let count = 60_000
    // Version 0, offsets and lengths of four bytes: one item, and the whole file as each of its extents.
    var location = PNGChunk.bigEndian(0) + [0x44, 0, 0, 1, 0, 1, 0, 0]
    location += [UInt8(count >> 8), UInt8(count & 255)]
    for _ in 0..<count { location += PNGChunk.bigEndian(0) + PNGChunk.bigEndian(bytes.count) }
    _ = try Self.refusal(Self.replacing("iloc", by: TiledHEIC.box("iloc", location), in: bytes))
  }

  @Test func `a grid of more tiles than there are is refused`() throws {
    var picture = try Self.tiled()
    (picture.rows, picture.columns) = (256, 256)
    _ = try Self.refusal(picture.bytes)
    picture.size = PixelSize(16_384, 16_384)
    #expect(try Self.refusal(picture.bytes).code == .tooLarge)
  }

  @Test func `a grid larger than the limits is refused`() throws {
    var picture = try Self.tiled()
    picture.size = PixelSize(65_535, 65_535)
    #expect(try Self.refusal(picture.bytes).code == .tooLarge)
  }

  @Test func `a grid that is its own tile is refused`() throws {
    var picture = try Self.tiled()
    picture.references = [5, 5, 5, 5]
    _ = try Self.refusal(picture.bytes)
  }

  @Test func `a grid that shows a tile thousands of times stays within the limits`() throws {
    var picture = try Self.tiled()
    // A tenth of the processor time that it may take: there are slower machines.
    (picture.rows, picture.columns) = (50, 50)
    picture.references = [Int](repeating: 1, count: 2500)
    picture.size = PixelSize(3200, 3200)
    #expect(try Foreign.facts(picture.bytes).size == PixelSize(3200, 3200))
  }
}
