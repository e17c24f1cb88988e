import CCodecs
import Foundation
import Testing

import MediaTypes
@testable import Imaging

/// A baseline JPEG at 1/8, 2/8 and 4/8 is read by our own decoder; libjpeg reads it when anything is unusual.
@Suite struct ReducedTests {
  /// The same picture with stray bytes before its end, which libjpeg warns of.
  private func unusual(_ bytes: [UInt8]) -> [UInt8] {
    Array(bytes.dropLast(2)) + [UInt8](repeating: 0x55, count: 20) + [0xFF, 0xD9]
  }

  private func render(_ bytes: [UInt8], width: Int) throws -> [UInt8] {
    try PictureRenderer.render(bytes, ("width", "\(width)")).encoded
  }

  @Test func `only what is unusual is left to libjpeg`() throws {
    let scene = try Canvas.scene(640, 480).jpeg()
    for (bytes, warnings) in [(scene, 0), (unusual(scene), 1)] {
      let reader = try JPEGReader(SourceFile(bytes: bytes), limits: Limits())
      try reader.start(eighths: 1, limits: Limits())
      try reader.validate()
      #expect(reader.planes[1].width == (warnings == 0 ? 40 : 80))  // libjpeg gives more chroma
      #expect(reader.health.warnings == warnings && reader.health.truncated == 0)
    }
  }

  @Test func `at 1/8 grey comes out bit for bit as from libjpeg`() throws {
    let scene = try Canvas.scene(640, 480).greyJPEG()
    #expect(try render(scene, width: 40) == render(unusual(scene), width: 40))
  }

  @Test(arguments: 0..<4, 0..<4)
  func `at 4/8 a wave of a block is the same wave in a quarter of the samples`(
    across: Int, down: Int
  ) throws {
    @Sendable func tone(_ x: Int, _ y: Int, of points: Double) -> Double {
      let (u, v) = (Double(across), Double(down))
      return 128 + 60 * cos((Double(x) + 0.5) * u * .pi / points)
        * cos((Double(y) + 0.5) * v * .pi / points)
    }
    let wave = Canvas(size: PixelSize(16, 16)) { x, y in
      let tone = Int(tone(x % 8, y % 8, of: 8).rounded())
      return (tone, tone, tone, 255)
    }
    let source = SourceFile(
      bytes: try Tool.run("cjpeg -grayscale -quality 100", PortableMap.bytes(of: wave)))
    var info = codec_jpeg_info()
    let codec = try callCodec(or: .damaged("JPEG")) { message in
      source.withCodecSource { codec_jpeg_open($0, &info, message) }
    }
    defer { codec_jpeg_close(codec) }
    var samples = [UInt8](repeating: 0, count: 32)
    try samples.withUnsafeMutableBufferPointer { samples in
      var band = codec_band()
      (band.rows.0, band.strides.0) = (samples.baseAddress, 8)
      _ = try callCodec(or: .damaged("JPEG")) {
        succeeded(codec_jpeg_start(codec, 4, 1, &info, $0))
      }
      _ = try callCodec(or: .damaged("JPEG")) { succeeded(codec_jpeg_band(codec, &band, $0)) }
    }
    for (index, sample) in samples.enumerated() {
      let wanted = tone(index % 4, index / 8, of: 4)
      #expect(abs(Double(sample) - wanted) <= 1.5, "\(index)")
    }
  }

  @Test(arguments: [40, 80, 160])
  func `colours come out as from libjpeg`(width: Int) throws {
    let scene = try Canvas.scene(640, 480).jpeg()
    let ours = try Decoded(render(scene, width: width))
    let theirs = try Decoded(render(unusual(scene), width: width))
    #expect(ours.largestDifference(from: theirs) <= 12)
  }

  @Test func `restart markers are followed, and a wrong one is left to libjpeg`() throws {
    let stripes = BlockJPEG.stripes(640, 480)
    #expect(try render(stripes, width: 40) == render(unusual(stripes), width: 40))
    var wrong = stripes
    let marker = try #require(wrong.indices.first { wrong[$0] == 0xFF && wrong[$0 + 1] == 0xD3 })
    wrong[marker + 1] = 0xD5
    let reader = try JPEGReader(SourceFile(bytes: wrong), limits: Limits())
    try reader.start(eighths: 1, limits: Limits())
    try reader.validate()
    #expect(reader.health.warnings > 0)
  }

  @Test func `a table that cannot be is a sentence`() throws {
    var bytes = BlockJPEG.stripes(64, 64)
    let scan = try #require(bytes.indices.first { bytes[$0] == 0xFF && bytes[$0 + 1] == 0xDA })
    bytes[scan + 6] = 0xFF
    #expect(throws: ImagingError.self) { try render(bytes, width: 8) }
  }
}
