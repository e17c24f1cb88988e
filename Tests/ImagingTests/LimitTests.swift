import Testing

import MediaTypes
@testable import Imaging

/// Each limit is told by the header, before anything is allocated, in one sentence; the log gets its number.
@Suite struct LimitTests {
  private static func sentence(_ bytes: [UInt8], _ limits: Limits = Limits()) -> String {
    let errors = [looking(at: bytes, limits), rendering(bytes, limits)]
    #expect(errors[0] == errors[1] && errors[0]?.code == .tooLarge)
    return errors[0]?.report ?? ""
  }

  private static func looking(at bytes: [UInt8], _ limits: Limits) -> ImagingError? {
    do {
      _ = try Facts(SourceFile(bytes: bytes), limits: limits)
      return nil
    } catch { return error }
  }

  private static func rendering(_ bytes: [UInt8], _ limits: Limits) -> ImagingError? {
    var options = Options()
    options.width = 8
    do {
      _ = try PictureRenderer(options, limits: limits).render(SourceFile(bytes: bytes))
      return nil
    } catch { return error }
  }

  /// A PNG whose header says another size.
  private static func png(_ width: Int, _ height: Int, interlaced: Bool = false) throws -> [UInt8] {
    let png = RawPNG(PixelSize(1, 1), colourType: 6, depth: 8) { _, _ in [0, 0, 0, 255] }.bytes
    let sizes = [width, height].flatMap { [$0 >> 24, $0 >> 16 & 255, $0 >> 8 & 255, $0 & 255] }
    let header = sizes.map { UInt8($0) } + [8, 6, 0, 0, interlaced ? 1 : 0]
    return png.prefix(8) + RawPNG.chunk("IHDR", header) + png.dropFirst(33)
  }

  private static func jpeg(_ flags: String, _ width: Int, _ height: Int) throws -> [UInt8] {
    var bytes = try Tool.run("cjpeg \(flags)", PortableMap.bytes(of: Canvas.scene(16, 16)))
    let frame = try #require(
      JPEGSegments(SourceFile(bytes: bytes)).first { [0xC0, 0xC2].contains($0.marker) })
    let sizes = [height >> 8, height & 255, width >> 8, width & 255].map { UInt8($0) }
    bytes.replaceSubrange(frame.content.lowerBound + 1..<frame.content.lowerBound + 5, with: sizes)
    return bytes
  }

  @Test func `more megapixels than 100`() throws {
    let wanted = "20000x15000 pixels, 300.0 megapixels; at most 100 are allowed"
    #expect(Self.sentence(try Self.png(20_000, 15_000)).contains(wanted))
    #expect(Self.sentence(try Self.jpeg("", 20_000, 15_000)).contains(wanted))
    let gif = Array("GIF89a".utf8) + [0x20, 0x4E, 0x98, 0x3A, 0x80, 0, 0, 255, 255, 255, 0, 0, 0]
    let image: [UInt8] = [0x2C, 0, 0, 0, 0, 2, 0, 1, 0, 0, 2, 2, 0x44, 0x0A, 0, 0x3B]
    #expect(Self.sentence(gif + image).contains(wanted))
  }

  @Test func `a longer edge than 30000`() throws {
    let wanted = "the longest edge allowed is 30000"
    #expect(Self.sentence(try Self.png(30_001, 1)).contains(wanted))
    #expect(Self.sentence(try Self.jpeg("-grayscale", 1, 30_001)).contains(wanted))
  }

  @Test(arguments: ["-progressive", "-scans $(echo '0; 1; 2;' >scans; echo scans)"])
  func `a JPEG of several scans whose coefficients take more than 192 MiB`(flags: String) throws {
    let text = Self.sentence(try Self.jpeg("\(flags) -sample 1x1", 9_900, 9_900))
    #expect(text.contains("560 MiB") && text.contains("192 MiB"))
  }

  @Test func `an interlaced PNG that takes more than 128 MiB`() throws {
    let text = Self.sentence(try Self.png(8_192, 8_192, interlaced: true))
    #expect(text.contains("256 MiB") && text.contains("128 MiB"))
  }

  @Test func `a GIF that takes more than 128 MiB`() throws {
    var limits = Limits()
    limits.megapixels = 1000
    let gif = Array("GIF89a".utf8) + [0x30, 0x75, 0x30, 0x75, 0x80, 0, 0, 255, 255, 255, 0, 0, 0]
    let image: [UInt8] = [0x2C, 0, 0, 0, 0, 0x30, 0x75, 0x30, 0x75, 0, 2, 2, 0x44, 0x0A, 0, 0x3B]
    #expect(Self.sentence(gif + image, limits).contains("858 MiB"))
  }

  @Test func `a profile that inflates to more than 4 MiB`() throws {
    var profile = ICC.profile(swapping: true)
    profile += [UInt8](repeating: 0, count: 5 << 20)
    let size = withUnsafeBytes(of: UInt32(profile.count).bigEndian, Array.init)
    profile.replaceSubrange(0..<4, with: size)
    let packed = try Tool.run(
      "python -c 'import sys, zlib; sys.stdout.buffer.write(zlib.compress(open(\"in\", \"rb\").read()))'",
      profile)
    let bytes = Surgery.png(
      try Canvas.scene(16, 16).png(), adding: "iCCP", Array("big\0\0".utf8) + packed)
    #expect(bytes.count < 100_000)
    #expect(Self.sentence(bytes).contains("4 MiB"))
  }

  @Test func `metadata of more than 4 MiB in a chunk, or a profile of that in a JPEG`() throws {
    let text = [UInt8](repeating: 65, count: 5 << 20)
    let plain = try Canvas.scene(16, 16).png()
    let length = withUnsafeBytes(of: UInt32(text.count).bigEndian, Array.init)
    let chunk: [UInt8] = length + Array("tEXt".utf8) + text
    let png: [UInt8] = Array(plain[..<33]) + chunk + Array(plain[29...])
    #expect(Self.sentence(png).contains("5 MiB") && Self.sentence(png).contains("4 MiB"))
    let jpeg = Surgery.jpeg(try Canvas.scene(16, 16).jpeg(), profile: text)
    #expect(Self.sentence(jpeg).contains("4 MiB"))
  }

  @Test func `a progressive JPEG of more than 100 scans`() throws {
    let some = try Tool.run(
      "cjpeg -grayscale -progressive", PortableMap.bytes(of: Canvas.scene(64, 64)))
    let segments = Array(JPEGSegments(SourceFile(bytes: some)))
    let last = try #require(segments.lastIndex { $0.marker == JPEGSegment.scan })
    let scan = some[segments[last].range.lowerBound..<segments[last + 1].range.upperBound]
    var bytes = Array(some.dropLast(2))
    for _ in 0..<100 { bytes += scan }
    bytes += [0xFF, JPEGSegment.end]
    #expect(Self.looking(at: bytes, Limits())?.report.contains("more than 100 scans") == true)
    #expect(Self.rendering(bytes, Limits())?.report.contains("more than 100 scans") != false)
  }
}
