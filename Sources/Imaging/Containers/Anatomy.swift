/// What stands in a picture file beside its pixels.
struct Anatomy {
  /// How to turn the pixels.
  var orientation = Orientation.upright
  /// The embedded ICC profile of a JPEG, when it is whole.
  var profile: [UInt8]?
  /// The colour space of a PNG by its cICP chunk: primaries, transfer, matrix, full range.
  var codePoints: [UInt8]?
  /// Bytes of the pixels of a PNG or of a GIF's first picture.
  private var codedBytes: Int?
  /// Bits of a PNG's sample.
  private var depth = 8
  /// Whether the file holds an animation.
  var isAnimated = false
  /// Whether the end of the file is there.
  var isComplete = false

  /// Looks through a file; throws when something beside its pixels is larger than is allowed.
  init(_ source: SourceFile, kind: PictureKind, limits: Limits) throws(ImagingError) {
    switch kind {
    case .jpeg: try readJPEG(source, limits: limits)
    case .png: try readPNG(source, limits: limits)
    case .gif: readGIF(source)
    }
  }

  /// Whether a picture of that many pixels is a graphic, such as a code or a logo: its tones are few, or so much of it
  /// is flat that a pixel takes less than a bit.
  func isGraphic(pixels: Int) -> Bool { depth < 8 || codedBytes.map { $0 * 8 < pixels } ?? false }

  private mutating func readGIF(_ source: SourceFile) {
    let blocks = Array(GIFBlocks(source))
    codedBytes = blocks.first { $0.kind == .image }?.range.count
    let kinds = blocks.map(\.kind)
    isAnimated = kinds.count { $0 == .image } > 1
    isComplete = kinds.last == .trailer && kinds.contains(.image)
  }

  private mutating func readJPEG(
    _ source: SourceFile, limits: Limits
  ) throws(ImagingError) {
    var parts: [UInt8: [UInt8]] = [:]
    var partCount = 0
    var bytes = 0
    for segment in JPEGSegments(source).prefix(while: { $0.marker != JPEGSegment.scan }) {
      switch segment.marker {
      case JPEGSegment.application(1) where source.startsWithExif(segment.content):
        let tiff = segment.content.dropFirst(6)
        orientation = Exif(tiff: source.bytes(tiff)).orientation
      case JPEGSegment.application(2) where source.isProfilePart(segment.content):
        let part = source.bytes(segment.content)
        bytes += part.count
        try limits.check(
          bytes, against: limits.ancillaryBytes, for: "The JPEG's colour profile",
          remedy: "Export it as sRGB.")
        guard part.count > 14 else { continue }
        partCount = Int(part[13])
        parts[part[12]] = Array(part[14...])
      default: continue
      }
    }
    let ordered = partCount > 0 ? (1...partCount).compactMap { parts[UInt8($0)] } : []
    if !ordered.isEmpty, ordered.count == partCount { profile = ordered.flatMap(\.self) }
  }

  private mutating func readPNG(_ source: SourceFile, limits: Limits) throws(ImagingError) {
    for chunk in PNGChunks(source) {
      if chunk.type != "IDAT", chunk.type != "fdAT" {
        try limits.check(
          chunk.content.count, against: limits.ancillaryBytes, for: "A chunk of the PNG")
      }
      switch chunk.type {
      case "eXIf": orientation = Exif(tiff: source.bytes(chunk.content)).orientation
      case "cICP" where chunk.content.count == 4: codePoints = source.bytes(chunk.content)
      case "acTL": isAnimated = PNGAnimation.frameCount(source, chunk) != 1
      case "IHDR": depth = source.bytes(chunk.content.dropFirst(8)).first.map(Int.init) ?? 8
      case "IDAT": codedBytes = (codedBytes ?? 0) + chunk.content.count
      case "IEND": isComplete = true
      default: continue
      }
    }
  }
}

extension SourceFile {
  /// Whether a segment's content is EXIF (EXIF 2.32 4.7.2).
  func startsWithExif(_ content: Range<Int>) -> Bool {
    bytes(content.prefix(6)).elementsEqual("Exif\0\0".utf8)
  }

  /// Whether a segment's content is a part of an ICC profile (ICC.1:2010 B.4).
  func isProfilePart(_ content: Range<Int>) -> Bool {
    bytes(content.prefix(12)).elementsEqual("ICC_PROFILE\0".utf8)
  }
}
