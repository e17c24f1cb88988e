import Foundation
import Testing

import CCodecs
import MediaTypes
@testable import Imaging

/// Every kind of JPEG, beside what djpeg reads.
@Suite struct JPEGReadingTests {
  private static let scene = Canvas(size: PixelSize(203, 141)) { x, y in
    (60 + x * 150 / 203, 200 - y * 150 / 141, 90 + (x + y) * 97 / 344, 255)
  }

  @Test(arguments: [
    "-sample 1x1", "-sample 2x1", "-sample 1x2", "-sample 2x2", "-sample 4x1", "-sample 1x4",
    "-sample 4x2", "-sample 2x2,1x2,2x1", "-sample 1x1,2x2,1x1", "-grayscale", "-rgb", "-restart 1",
    "-restart 3B", "-arithmetic", "-progressive", "-progressive -arithmetic",
    "-progressive -sample 4x1", "-progressive -restart 2", "-optimize", "-dct float -quality 25",
  ])
  func `a JPEG of any kind has djpeg's pixels`(flags: String) throws {
    let bytes = try Tool.run("cjpeg -quality 97 \(flags)", PortableMap.bytes(of: Self.scene))
    #expect(try Facts(SourceFile(bytes: bytes)).advice.isEmpty)
    let full = try FloatPicture(decoding: bytes)
    for (width, linear) in [("101", "0"), ("20", "0"), ("50", "1")] {
      // a box with odd proportions, so that nothing passes through
      let made = try FloatPicture(
        decoding: PictureRenderer.render(
          bytes, ("width", width), ("height", "137"), ("linear", linear)
        ).encoded)
      let wanted = full.shrunk(to: made.size, inLight: linear == "1")
      #expect(made.difference(from: wanted) <= 2.2, "\(width) \(linear)")
      #expect(made.similarity(to: wanted) >= 0.96, "\(width) \(linear)")
    }
  }

  @Test(arguments: [1, 2, 4, 8])
  func `a smaller picture does not need all scans of a progressive JPEG`(eighths: Int) throws {
    let map = PortableMap.bytes(of: Canvas.scene(480, 360))
    let scans = try Tool.run("cjpeg -quality 90 -progressive", map)
    let reader = try JPEGReader(SourceFile(bytes: scans), limits: Limits())
    try reader.start(eighths: eighths, limits: Limits())
    #expect((reader.health.scans < 10) == (eighths < 8))
    let width = String(eighths == 8 ? 470 : eighths * 480 / 8 / 2)
    let made = try PictureRenderer.render(scans, ("width", width))
    let wanted = try PictureRenderer.render(
      Tool.run("cjpeg -quality 90 -optimize", map), ("width", width))
    let difference = try FloatPicture(decoding: made.encoded)
      .difference(from: FloatPicture(decoding: wanted.encoded))
    #expect(difference < 0.7, "\(difference)")
  }

  @Test func `a JPEG of 12 bits is refused and the log has the number`() throws {
    var bytes = try Self.scene.jpeg()
    let frame = try #require(JPEGSegments(SourceFile(bytes: bytes)).first { $0.marker == 0xC0 })
    bytes[frame.content.lowerBound] = 12
    let error = #expect(throws: ImagingError.self) { try Facts(SourceFile(bytes: bytes)) }
    #expect(error?.report.contains("12") == true)
    #expect(throws: ImagingError.self) { try PictureRenderer.render(bytes, ("width", "20")) }
  }

  @Test func `a JPEG of two components is refused and the log has the number`() throws {
    var bytes = try Tool.run("cjpeg -sample 1x1", PortableMap.bytes(of: Self.scene))
    for marker: UInt8 in [0xC0, 0xDA] {
      let segment = try #require(
        JPEGSegments(SourceFile(bytes: bytes)).first { $0.marker == marker })
      let start = segment.content.lowerBound
      let (count, size) = marker == 0xC0 ? (start + 5, 3) : (start, 2)
      bytes[count] = 2
      bytes.removeSubrange(count + 1 + 2 * size..<count + 1 + 3 * size)
      bytes[start - 1] -= UInt8(size)
    }
    for options in [[], [("linear", "1")]] {
      let error = #expect(throws: ImagingError.self) {
        try PictureRenderer.render(bytes, [("width", "20")] + options)
      }
      #expect(error?.report.contains("2 colour components") == true)
    }
  }

  @Test(arguments: ["", "-progressive", "-arithmetic", "-restart 2"])
  func `a damaged tail leaves what stands before it`(flags: String) throws {
    var bytes = try Tool.run("cjpeg -quality 90 \(flags)", PortableMap.bytes(of: Self.scene))
    let whole = try FloatPicture(decoding: bytes)
    let tail = bytes.count - bytes.count / 10
    bytes.replaceSubrange(
      tail..<bytes.count - 2, with: repeatElement(0, count: bytes.count - 2 - tail))
    for made in [bytes, Array(bytes.prefix(tail))] {
      let rendition = try PictureRenderer.render(made, ("width", "101"))
      let seen = try FloatPicture(decoding: rendition.encoded)
      let wanted = whole.shrunk(to: seen.size)
      // the upper half, whatever became of the rest
      let half = seen.size.width * (seen.size.height / 2) * 3
      let error = (0..<half).reduce(0.0) { $0 + abs(seen.samples[$1] - wanted.samples[$1]) }
      #expect(error / Double(half) < 8)
    }
  }
}
