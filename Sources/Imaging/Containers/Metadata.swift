import MediaTypes

/// What a picture file contains beside its pixels.
struct Metadata {
  /// How the pixels are turned.
  var orientation = Orientation.upright
  /// The embedded ICC profile of a JPEG, when it is complete.
  var profile: [UInt8]?
  /// The colour space of a PNG by its cICP chunk: primaries, transfer, matrix, full range.
  var codePoints: [UInt8]?
  /// Bytes of the coded pixels of a PNG, of a GIF's first picture or of a WebP without loss.
  private var codedBytes: Int?
  /// Bits of a PNG's sample.
  private var depth = 8
  /// Whether the file is an animation that is played.
  var isAnimated = false
  /// The animation that a PNG announces.
  private(set) var animation: PNGAnimation?
  /// Whether a PNG has chunks of an animation, played or not.
  private(set) var hasAnimationChunks = false
  /// Whether a PNG has frames that are never shown.
  private(set) var hasUnplayedFrames = false
  /// Whether the file has its end.
  var isComplete = false

  /// Reads a file's metadata.
  ///
  /// - Throws: `tooLarge` when some of it exceeds the limits.
  init(_ source: SourceFile, kind: PictureKind, limits: Limits) throws(ImagingError) {
    switch kind {
    case .jpeg: try readJPEG(source, limits: limits)
    case .png: try readPNG(source, limits: limits)
    case .gif: readGIF(source)
    case .webp: readWebP(source)
    case .heic, .heif, .avif: break  // EXIF must not turn these: the file's own properties do
    }
  }

  /// Whether a picture of that many pixels is a graphic, such as a code or a logo: it has few tones, or
  /// so much of it is flat that a pixel takes less than a bit.
  func isGraphic(pixels: Int) -> Bool { depth < 8 || codedBytes.map { $0 * 8 < pixels } ?? false }

  /// Whether the pixels of a WebP are coded without loss.
  var isLossless: Bool { codedBytes != nil }

  private mutating func readWebP(_ source: SourceFile) {
    orientation = Exif.Part(webP: source)?.orientation ?? .upright
    for chunk in Chunks(webP: source) where chunk.id == "VP8L" { codedBytes = chunk.body.count }
  }

  private mutating func readGIF(_ source: SourceFile) {
    let blocks = Array(GIFBlocks(source))
    let images = blocks.filter { $0.kind == .image }
    codedBytes = images.first?.range.count
    isAnimated = source.isAnimation
    isComplete = blocks.last?.kind == .trailer && !images.isEmpty
  }

  private mutating func readJPEG(_ source: SourceFile, limits: Limits) throws(ImagingError) {
    orientation = Exif.Part(jpeg: source)?.orientation ?? .upright
    var parts: [UInt8: [UInt8]] = [:]
    var (partCount, bytes) = (0, 0)
    for segment in JPEGSegments(source) where segment.isWhole {
      switch segment.marker {
      case JPEGSegment.application(2):
        // A part of an ICC profile (ICC.1:2010 B.4).
        let part = source.bytes(segment.content)
        guard part.starts(with: "ICC_PROFILE\0".utf8) else { continue }
        bytes += part.count
        try limits.check(
          bytes, against: limits.ancillaryBytes, for: "The JPEG's colour profile",
          remedy: "Export it as sRGB.")
        guard part.count > 14 else { continue }
        partCount = Int(part[13])
        parts[part[12]] = Array(part[14...])
      case JPEGSegment.scan:
        let ordered = partCount > 0 ? (1...partCount).compactMap { parts[UInt8($0)] } : []
        if !ordered.isEmpty, ordered.count == partCount { profile = ordered.flatMap(\.self) }
        return
      default: continue
      }
    }
  }

  private mutating func readPNG(_ source: SourceFile, limits: Limits) throws(ImagingError) {
    var types: Set<String> = []
    for chunk in Chunks(png: source) {
      if chunk.id != "IDAT", chunk.id != "fdAT" {
        try limits.check(
          chunk.body.count, against: limits.ancillaryBytes, for: "A chunk of the PNG")
      }
      switch chunk.id {
      case "cICP" where chunk.body.count == 4: codePoints = source.bytes(chunk.body)
      case "acTL", "fcTL", "fdAT": types.insert(chunk.id)
      case "IHDR": depth = source.octets(chunk.body)[8] ?? 8
      case "IDAT": codedBytes = (codedBytes ?? 0) + chunk.body.count
      case "IEND": isComplete = true
      default: continue
      }
    }
    orientation = Exif.Part(png: source)?.orientation ?? .upright
    animation = PNGAnimation(source)
    isAnimated = animation?.isPlayed ?? false
    hasAnimationChunks = !types.isEmpty
    hasUnplayedFrames = types.contains("fdAT") && !isAnimated && animation?.stillFrame == nil
  }
}
