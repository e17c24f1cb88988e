import MediaTypes

/// A file without its private metadata: the parts that are kept, in order and unchanged.
package struct CleanCopy: Sendable {
  private enum Piece {
    /// Bytes of the source.
    case source(Range<Int>)
    /// Bytes that replace something.
    case bytes([UInt8])
  }

  /// The parts of the copy, in order.
  private var pieces: [Piece] = []
  /// The number of bytes of the copy.
  package private(set) var size = 0
  /// What was removed, in words; empty when the source has no private metadata.
  package private(set) var removed: [String] = []
  /// Where the parts of the source end.
  private var end = 0

  /// Removes segments, chunks or blocks; the coded pixels are kept.
  package init(_ source: SourceFile, kind: PictureKind) {
    switch kind {
    case .jpeg:
      let exif = Exif.Part(jpeg: source)
      for segment in JPEGSegments(source) where segment.isWhole {
        append(segment.range, Self.change(of: segment, exif, in: source))
      }
    case .png:
      append(0..<min(8, source.size), nil)
      let exif = Exif.Part(png: source)
      for chunk in Chunks(png: source) {
        append(chunk.range, Self.change(of: chunk, exif, in: source))
      }
    case .gif:
      let blocks = GIFBlocks(source)
      append(0..<blocks.start, nil)
      for block in blocks { append(block.range, Self.change(of: block)) }
    case .webp, .heic, .heif, .avif: return  // never sent as they are
    }
    if end < source.size { note("data behind the picture's end") }
  }

  /// The copy in memory.
  package func bytes(of source: SourceFile) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(size)
    for piece in pieces {
      switch piece {
      case .source(let range): source.withBytes { result += $0[range] }
      case .bytes(let bytes): result += bytes
      }
    }
    return result
  }

  /// What is removed of a part, and what replaces it; nil when the part is kept.
  private typealias Change = (removed: String, replacement: [UInt8])?

  private mutating func append(_ range: Range<Int>, _ change: Change) {
    if range.lowerBound > end { note("stray bytes") }
    end = range.upperBound
    size += change?.replacement.count ?? range.count
    if let change {
      note(change.removed)
      if !change.replacement.isEmpty { pieces.append(.bytes(change.replacement)) }
    } else if case .source(let last) = pieces.last, last.upperBound == range.lowerBound {
      pieces[pieces.count - 1] = .source(last.lowerBound..<range.upperBound)
    } else if !range.isEmpty {
      pieces.append(.source(range))
    }
  }

  private mutating func note(_ what: String) {
    if !removed.contains(what) { removed.append(what) }
  }

  private static func change(
    of segment: JPEGSegment, _ exif: Exif.Part?, in source: SourceFile
  ) -> Change {
    func holds(_ name: String) -> Bool {
      source.bytes(segment.content.prefix(name.utf8.count)).elementsEqual(name.utf8)
    }
    switch segment.marker {
    case JPEGSegment.application(0) where holds("JFIF\0"):
      // A JFIF header (ITU-T T.871 10.1) is kept without a thumbnail.
      guard segment.content.count != 14 else { return nil }
      // libjpeg ignores a shorter one, and Pillow refuses the file.
      guard segment.content.count > 14 else { return ("application data", []) }
      let header = source.bytes(segment.content.prefix(12))
      return ("a thumbnail", [0xFF, 0xE0, 0, 16] + header + [0, 0])
    case JPEGSegment.application(1):
      guard holds("Exif\0") else { return ("XMP", []) }
      return change(of: segment.range, exif) { tiff in
        [0xFF, 0xE1, 0, UInt8(tiff.count + 8)] + Array("Exif\0\0".utf8) + tiff
      }
    case JPEGSegment.application(2) where holds("ICC_PROFILE\0"): return nil
    case JPEGSegment.application(13): return ("IPTC", [])
    case JPEGSegment.application(14) where holds("Adobe"): return nil
    case JPEGSegment.application(0)...JPEGSegment.application(15):
      return ("application data", [])
    case JPEGSegment.comment: return ("comments", [])
    default: return nil
    }
  }

  /// The chunks of the pixels, in which a wrong checksum is damage.
  private static let ofPixels: Set<String> = [
    "IHDR", "PLTE", "IDAT", "IEND", "acTL", "fcTL", "fdAT",
  ]
  /// The further chunks that a picture needs to look right; all others are text, times and the like.
  private static let needed: Set<String> = [
    "tRNS", "gAMA", "cHRM", "sRGB", "iCCP", "cICP", "mDCV", "cLLI", "sBIT", "bKGD", "pHYs",
  ]

  private static func change(
    of chunk: Chunk, _ exif: Exif.Part?, in source: SourceFile
  ) -> Change {
    switch chunk.id {
    case "eXIf": change(of: chunk.range, exif) { PNGChunk.bytes("eXIf", $0) }
    case "tEXt", "zTXt", "iTXt": ("text", [])
    // Some programs pass over such a chunk with a wrong checksum, others refuse the file.
    case _ where needed.contains(chunk.id):
      PNGChunk.hasValidCRC(chunk.range, in: source) ? nil : ("damaged chunks", [])
    default: ofPixels.contains(chunk.id) ? nil : ("other chunks", [])
    }
  }

  /// Whether chunks of that type stay in a PNG.
  static func keeps(_ type: String) -> Bool { ofPixels.contains(type) || needed.contains(type) }

  private static func change(of block: GIFBlock) -> Change {
    switch block.kind {
    case .comment: ("comments", [])
    case .application where !block.isLooping: ("application data", [])
    default: nil
    }
  }

  /// Of EXIF data only the orientation is kept, once and in its plain form.
  private static func change(
    of range: Range<Int>, _ exif: Exif.Part?, _ written: ([UInt8]) -> [UInt8]
  ) -> Change {
    guard let exif, exif.range == range else { return ("EXIF", []) }
    guard !exif.isPlain else { return nil }
    let orientation = exif.orientation
    return ("EXIF", orientation == .upright ? [] : written(Exif.tiff(orientation)))
  }
}
