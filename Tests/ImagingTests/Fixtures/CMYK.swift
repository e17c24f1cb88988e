import MediaTypes
@testable import Imaging

/// JPEGs in four inks, written by libvips.
enum CMYK {
  /// `inks` gives cyan, magenta, yellow and black of a pixel, 255 for all of an ink.
  static func jpeg(
    _ size: PixelSize, hasMarker: Bool = true, isYCCK: Bool = false, _ inks: (Int, Int) -> [Int]
  ) throws -> [UInt8] {
    var bytes: [UInt8] = []
    for y in 0..<size.height {
      for x in 0..<size.width {
        bytes += stored(inks(x, y), isYCCK: isYCCK).map {
          UInt8(255 - $0)  // libvips turns its inks around as Adobe does
        }
      }
    }
    var jpeg = try Tool.run(
      "python -c 'import pyvips, sys; sys.stdout.buffer.write(pyvips.Image.new_from_memory("
        + "open(\"in\", \"rb\").read(), \(size.width), \(size.height), 4, \"uchar\")"
        + ".copy(interpretation=\"cmyk\").write_to_buffer(\".jpg\", Q=98, subsample_mode=\"off\"))'",
      bytes)
    guard let marker = JPEGSegments(SourceFile(bytes: jpeg)).first(where: { $0.marker == 0xEE })
    else { throw Tool.Failure(command: "Adobe's marker") }
    if !hasMarker {
      jpeg.removeSubrange(marker.range)
    } else if isYCCK {
      jpeg[marker.content.upperBound - 1] = 2
    }
    return jpeg
  }

  /// The light that inks leave, as Adobe stores it; or that of the inks as YCbCr beside black (T.872 6.5.3).
  private static func stored(_ inks: [Int], isYCCK: Bool) -> [Int] {
    let light = inks.map { 255 - $0 }
    guard isYCCK else { return light }
    let (r, g, b) = (Double(inks[0]), Double(inks[1]), Double(inks[2]))
    let y = 0.299 * r + 0.587 * g + 0.114 * b
    return [y, 128 + (b - y) / 1.772, 128 + (r - y) / 1.402].map {
      min(255, max(0, Int($0.rounded())))
    } + [light[3]]
  }
}
