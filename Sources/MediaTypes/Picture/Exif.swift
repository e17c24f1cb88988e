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

/// The orientation in EXIF data (TIFF 6.0 structure, EXIF 2.32 4.6.4), as browsers read it.
package struct Exif: Sendable {
  /// The orientation; upright when the data has none that is valid: one SHORT from 1 to 8 in the first directory.
  package let orientation: Orientation
  /// Whether it is an orientation alone, in the form that every program reads.
  package let isPlain: Bool

  /// Reads EXIF data from its byte-order mark on.
  package init(tiff: [UInt8]) {
    let octets = Octets(bytes: tiff)
    let isLittle = octets.has("II")
    func number(_ offset: Int, _ count: Int) -> Int? {
      isLittle ? octets.little(at: offset, count: count) : octets.big(at: offset, count: count)
    }
    func oneOrientation(at entry: Int) -> Orientation? {
      guard number(entry, 2) == 0x0112, number(entry + 2, 2) == 3, number(entry + 4, 4) == 1,
        let value = number(entry + 8, 2), octets[entry + 11] != nil
      else { return nil }
      return UInt8(exactly: value).flatMap(Orientation.init)
    }
    guard isLittle || octets.has("MM"), number(2, 2) == 42, let first = number(4, 4), first >= 8,
      let count = number(first, 2)
    else {
      (orientation, isPlain) = (.upright, false)
      return
    }
    // Entries behind the data's end are not there, whatever the count says.
    let entries = (0..<count).prefix(max(0, tiff.count - first) / 12).map { first + 2 + 12 * $0 }
    let found = entries.lazy.compactMap(oneOrientation).first
    orientation = found ?? .upright
    isPlain =
      found != nil && count == 1 && first == 8 && (tiff.count == 22 || tiff.count == 26)
      && (number(20, 2) ?? 0) == 0 && (number(22, 4) ?? 0) == 0
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

  /// The one part of a file whose EXIF data counts, where there are several.
  package struct Part: Sendable {
    /// The whole segment or chunk.
    package let range: Range<Int>
    package let orientation: Orientation
    /// Whether all of the part is in the form that every program reads.
    package let isPlain: Bool

    /// The first segment with EXIF data in front of a JPEG's pixels (EXIF 2.32 4.7.2), whatever it says.
    package init?(jpeg source: some ByteSource) {
      for segment in JPEGSegments(source) {
        if segment.marker == JPEGSegment.scan { return nil }
        guard segment.marker == JPEGSegment.application(1), segment.isWhole else { continue }
        let content = source.bytes(segment.content)
        // As Chromium does: any byte instead of the second zero, and nothing is no EXIF.
        guard content.starts(with: "Exif\0".utf8), content.count > 6 else { continue }
        self.init(segment.range, content.dropFirst(6), isPlain: content[5] == 0)
        return
      }
      return nil
    }

    /// The first eXIf chunk with a valid CRC in front of a PNG's pixels, whatever it says.
    package init?(png source: some ByteSource) {
      for chunk in Chunks(png: source) {
        if chunk.id == "IDAT" { return nil }
        guard chunk.id == "eXIf", PNGChunk.hasValidCRC(chunk.range, in: source) else { continue }
        self.init(chunk.range, source.bytes(chunk.body)[...], isPlain: true)
        return
      }
      return nil
    }

    /// The first EXIF chunk of a WebP, from its byte-order mark on or as in a JPEG.
    package init?(webP source: some ByteSource) {
      guard let chunk = Chunks(webP: source).first(where: { $0.id == "EXIF" }) else { return nil }
      let content = source.bytes(chunk.body)
      let isMarked = content.starts(with: "Exif\0\0".utf8)
      self.init(chunk.range, content.dropFirst(isMarked ? 6 : 0), isPlain: !isMarked)
    }

    private init(_ range: Range<Int>, _ tiff: ArraySlice<UInt8>, isPlain: Bool) {
      let exif = Exif(tiff: Array(tiff))
      (self.range, orientation) = (range, exif.orientation)
      self.isPlain = isPlain && exif.isPlain
    }
  }
}
