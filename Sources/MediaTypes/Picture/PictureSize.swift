/// The width and height that a picture is seen at, in pixels: a JPEG that EXIF turns is read upright.
package struct PictureSize: Sendable, Hashable, CustomStringConvertible {
  package let width: Int
  package let height: Int

  package var description: String { "\(width)x\(height)" }

  init?(_ width: Int?, _ height: Int?) {
    guard let width, let height, width > 0, height > 0 else { return nil }
    self.width = width
    self.height = height
  }

  /// Reads the header of a PNG, JPEG, GIF, WebP or BMP; nil when it is none or cut short.
  package static func read(_ source: some ByteSource) -> PictureSize? {
    let head = source.octets(at: 0, count: 32)
    return switch MediaType.sniff(source: source).value {
    case "image/png":
      head.has("IHDR", at: 12)
        ? PictureSize(head.big(at: 16, count: 4), head.big(at: 20, count: 4)) : nil
    case "image/gif": PictureSize(head.little(at: 6, count: 2), head.little(at: 8, count: 2))
    case "image/bmp": bitmap(head)
    case "image/webp": webP(head)
    case "image/jpeg": jpeg(source)
    default: nil
    }
  }

  /// BITMAPINFOHEADER, whose height is negative when the top row comes first.
  private static func bitmap(_ head: Octets) -> PictureSize? {
    guard let width = head.little(at: 18, count: 4), let height = head.little(at: 22, count: 4)
    else { return nil }
    return PictureSize(width, Int(Int32(truncatingIfNeeded: height).magnitude))
  }

  /// The three forms of WebP (RFC 9649 section 2).
  private static func webP(_ head: Octets) -> PictureSize? {
    switch head.code(at: 12) {
    case "VP8 ":
      return PictureSize(
        head.little(at: 26, count: 2).map { $0 & 0x3FFF },
        head.little(at: 28, count: 2).map { $0 & 0x3FFF })
    case "VP8L":
      guard head[20] == 0x2F, let bits = head.little(at: 21, count: 4) else { return nil }
      return PictureSize(bits & 0x3FFF + 1, bits >> 14 & 0x3FFF + 1)
    case "VP8X":
      return PictureSize(
        head.little(at: 24, count: 3).map { $0 + 1 }, head.little(at: 27, count: 3).map { $0 + 1 })
    default: return nil
    }
  }

  /// The frame header of a JPEG (ITU-T T.81 annex B), behind at most 4096 other segments.
  private static func jpeg(_ source: some ByteSource) -> PictureSize? {
    var offset = 2
    var liesOnItsSide = false
    for _ in 0..<4096 {
      let segment = source.octets(at: offset, count: 9)
      guard segment[0] == 0xFF, let marker = segment[1] else { return nil }
      switch marker {
      case 0xFF: offset += 1  // a fill byte
      case 0x01, 0xD0...0xD7: offset += 2  // no length
      case 0xC0...0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF:
        let size = PictureSize(segment.big(at: 7, count: 2), segment.big(at: 5, count: 2))
        return liesOnItsSide ? size?.turned : size
      case 0xD9, 0xDA: return nil
      default:
        guard let length = segment.big(at: 2, count: 2), length >= 2 else { return nil }
        if marker == 0xE1, Self.liesOnItsSide(source.octets(at: offset + 4, count: length - 2)) {
          liesOnItsSide = true
        }
        offset += 2 + length
      }
    }
    return nil
  }
}
