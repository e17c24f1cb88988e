extension CleanCopy {
  mutating func cutJPEG(_ source: SourceFile) {
    var end = 0
    for segment in JPEGSegments(source) {
      cut(segment, of: source)
      end = segment.range.upperBound
    }
    close(source, at: end)
  }

  private mutating func cut(_ segment: JPEGSegment, of source: SourceFile) {
    func holds(_ name: String) -> Bool {
      source.bytes(segment.content.prefix(name.utf8.count)).elementsEqual(name.utf8)
    }
    switch segment.marker {
    case JPEGSegment.application(0) where holds("JFIF\0"):
      cutThumbnail(segment, of: source)
    case JPEGSegment.application(1) where holds("Exif\0\0"):
      cutExif(segment, of: source)
    case JPEGSegment.application(1): note("XMP")
    case JPEGSegment.application(2) where holds("ICC_PROFILE\0"): keep(segment.range)
    case JPEGSegment.application(13): note("IPTC")
    case JPEGSegment.application(14) where holds("Adobe"): keep(segment.range)
    case JPEGSegment.application(0)...JPEGSegment.application(15):
      note("application data")
    case JPEGSegment.comment: note("comments")
    default: keep(segment.range)
    }
  }

  /// A JFIF header (ITU-T T.871 10.1) stays, a thumbnail in it does not.
  private mutating func cutThumbnail(_ segment: JPEGSegment, of source: SourceFile) {
    guard segment.content.count > 14 else { return keep(segment.range) }
    note("a thumbnail")
    insert([0xFF, 0xE0, 0, 16] + source.bytes(segment.content.prefix(12)) + [0, 0])
  }

  private mutating func cutExif(_ segment: JPEGSegment, of source: SourceFile) {
    let exif = Exif(tiff: source.bytes(segment.content.dropFirst(6)))
    guard exif.holdsMore else { return keep(segment.range) }
    note("EXIF")
    guard exif.orientation != .upright else { return }
    let content = Array("Exif\0\0".utf8) + Exif.tiff(exif.orientation)
    insert([0xFF, 0xE1, 0, UInt8(content.count + 2)] + content)
  }
}
