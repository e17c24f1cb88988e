/// Width and height in whole pixels.
package struct PixelSize: Hashable, Sendable, CustomStringConvertible {
  /// Pixels across.
  package var width: Int
  /// Pixels down.
  package var height: Int

  package init(_ width: Int, _ height: Int) {
    self.width = width
    self.height = height
  }

  package var description: String { "\(width)x\(height)" }
  /// The same with width and height exchanged.
  package var transposed: PixelSize { PixelSize(height, width) }
  /// The number of pixels.
  package var pixels: Int { width * height }

  /// The size a picture is seen at: one that EXIF turns is measured upright.
  ///
  /// Reads the header of a PNG, JPEG, GIF, WebP or BMP; nil when it is none or cut short.
  package static func read(_ source: some ByteSource) -> PixelSize? {
    let head = source.octets(at: 0, count: 32)
    var exif: Exif.Part?
    let size: PixelSize?
    switch MediaType.sniff(source).value {
    case "image/png" where head.has("IHDR", at: 12):
      size = PixelSize(head.big(at: 16, count: 4), head.big(at: 20, count: 4))
      exif = Exif.Part(png: source)
    case "image/gif":
      size = PixelSize(head.little(at: 6, count: 2), head.little(at: 8, count: 2))
    case "image/bmp": size = bitmap(head)
    case "image/webp":
      size = webP(head)
      exif = Exif.Part(webP: source)
    case "image/jpeg":
      size = jpeg(source)
      exif = Exif.Part(jpeg: source)
    default: size = nil
    }
    guard let size, size.width > 0, size.height > 0 else { return nil }
    return exif?.orientation.applied(to: size) ?? size
  }

  private init?(_ width: Int?, _ height: Int?) {
    guard let width, let height else { return nil }
    self.init(width, height)
  }

  /// BITMAPINFOHEADER, whose height is negative when the top row comes first.
  private static func bitmap(_ head: Octets) -> PixelSize? {
    guard let width = head.little(at: 18, count: 4), let height = head.little(at: 22, count: 4)
    else { return nil }
    return PixelSize(width, Int(Int32(truncatingIfNeeded: height).magnitude))
  }

  /// The three forms of WebP (RFC 9649 section 2).
  private static func webP(_ head: Octets) -> PixelSize? {
    func number(_ offset: Int, _ count: Int) -> Int? { head.little(at: offset, count: count) }
    switch head.code(at: 12) {
    case "VP8 ":
      return PixelSize(number(26, 2).map { $0 & 0x3FFF }, number(28, 2).map { $0 & 0x3FFF })
    case "VP8L":
      guard head[20] == 0x2F, let bits = number(21, 4) else { return nil }
      return PixelSize(bits & 0x3FFF + 1, bits >> 14 & 0x3FFF + 1)
    case "VP8X": return PixelSize(number(24, 3).map { $0 + 1 }, number(27, 3).map { $0 + 1 })
    default: return nil
    }
  }

  /// The frame header of a JPEG (ITU-T T.81 B.2.2), after at most 4096 other segments.
  private static func jpeg(_ source: some ByteSource) -> PixelSize? {
    for (index, segment) in JPEGSegments(source).enumerated() {
      switch segment.marker {
      case 0xC0...0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF:
        let frame = source.octets(segment.content.prefix(5))
        return PixelSize(frame.big(at: 3, count: 2), frame.big(at: 1, count: 2))
      case JPEGSegment.scan: return nil
      default: if index > 4096 { return nil }
      }
    }
    return nil
  }
}
