/// How stored pixels are turned to be upright: the EXIF tag 0x0112.
package enum Orientation: UInt8, Sendable, CaseIterable {
  case upright = 1
  case mirrored, upsideDown, flipped, transposed, clockwise, transversed, counterclockwise

  /// Whether stored rows become upright columns.
  package var isTransposing: Bool { rawValue >= 5 }
  /// Whether the upright picture reads stored columns from the right.
  package var readsFromRight: Bool {
    [.mirrored, .upsideDown, .transversed, .counterclockwise].contains(self)
  }
  /// Whether the upright picture reads stored rows from below.
  package var readsFromBelow: Bool {
    [.upsideDown, .flipped, .clockwise, .transversed].contains(self)
  }

  /// The size of the upright picture, or of the stored one for an upright size.
  package func applied(to size: PixelSize) -> PixelSize { isTransposing ? size.transposed : size }
}

/// The orientation in EXIF data (TIFF 6.0 structure, EXIF 2.32 4.6.4).
package struct Exif: Sendable {
  /// The orientation; upright when the data has none that is valid.
  package let orientation: Orientation
  /// Whether it contains anything but the orientation.
  package let holdsMore: Bool

  /// Reads the content of a JPEG's APP1 segment; nil when that is not EXIF (EXIF 2.32 4.7.2).
  package init?(application content: [UInt8]) {
    guard content.starts(with: "Exif\0\0".utf8) else { return nil }
    self.init(tiff: Array(content.dropFirst(6)))
  }

  /// Reads EXIF data from its byte-order mark on.
  package init(tiff: [UInt8]) {
    let octets = Octets(bytes: tiff)
    let isLittle = octets.has("II")
    func number(_ offset: Int, _ count: Int) -> Int? {
      isLittle ? octets.little(at: offset, count: count) : octets.big(at: offset, count: count)
    }
    var orientation = Orientation.upright
    var isAlone = false
    if tiff.count >= 14, isLittle || octets.has("MM"), let first = number(4, 4), first >= 8,
      let count = number(first, 2)
    {
      for index in 0..<count {
        let entry = first + 2 + 12 * index
        guard let tag = number(entry, 2), let value = number(entry + 8, 2) else { break }
        guard tag == 0x0112 else { continue }
        orientation = Orientation(rawValue: UInt8(truncatingIfNeeded: value)) ?? .upright
        isAlone = count == 1 && tiff.count <= first + 2 + 12 + 4 && first == 8
        break
      }
    }
    self.orientation = orientation
    holdsMore = !isAlone
  }

  /// EXIF data with an orientation and nothing else, from the byte-order mark on.
  package static func tiff(_ orientation: Orientation) -> [UInt8] {
    [
      0x4D, 0x4D, 0, 42, 0, 0, 0, 8,  // big-endian, the directory follows
      0, 1,  // one entry
      0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation.rawValue, 0, 0,
      0, 0, 0, 0,  // no other directory
    ]
  }
}
