import CCodecs
import MediaTypes

/// What a picture file shows: its pixels, averaged over blocks, and whatever else decides how they look.
struct Appearance {
  /// The size of the stored pixels.
  private let stored: PixelSize
  private let orientation: Orientation
  private let model: ColourModel
  private let colourSpace: ColourSpace
  /// Averages of the decoded samples, not converted and not turned.
  private let averages: [[UInt8]]
  /// Bytes of each picture of an animation.
  private let frames: [Int]

  /// Pixels along the edge of a block.
  private static let block = 16
  /// The largest difference of averages, of 255.
  private static let tolerance = 4

  /// Decodes all of the file, and with `checking` checks what other programs check.
  ///
  /// - Throws: When the file is damaged so that some programs show nothing, or incomplete.
  init(
    _ source: SourceFile, _ kind: PictureKind, limits: Limits, checking: Bool
  ) throws(ImagingError) {
    let metadata = try Metadata(source, kind: kind, limits: limits)
    orientation = metadata.orientation
    switch kind {
    case .png:
      let reader = try PNGReader(source, limits: limits, checking: checking)
      (stored, model) = (reader.size, reader.model)
      colourSpace =
        metadata.codePoints.flatMap(ColourSpace.init(codePoints:)) ?? reader.colourSpace
      try reader.start()
      averages = try [Self.resampler(stored).resample(reader).planes[0].samples]
      if checking {
        try reader.finish()
        try metadata.animation?.validate(source, limits: limits)
      }
      frames = Chunks(png: source).compactMap {
        ["fcTL", "fdAT"].contains($0.id) ? $0.body.count : nil
      }
    case .gif:
      let picture = try GIFPicture(source, limits: limits)
      (stored, colourSpace) = (picture.size, .standard)
      model = picture.isTransparent ? .rgba : .rgb
      let raster = try Self.resampler(stored).resample(picture.rows, inLight: false)
      averages = [raster.planes[0].samples]
      frames = GIFBlocks(source).compactMap { $0.kind == .image ? $0.range.count : nil }
    case .jpeg:
      let reader = try JPEGReader(source, limits: limits)
      (stored, model) = (reader.size, reader.model)
      colourSpace = metadata.profile.map { .profile($0) } ?? .standard
      let resampler = Self.resampler(stored)
      // At a smaller scale the last scans would not count.
      let eighths = reader.isProgressive ? 8 : resampler.eighths
      try reader.start(eighths: eighths, limits: limits)
      averages = try resampler.resample(reader, halvingChroma: false).map(\.samples)
      try reader.finish()
      guard reader.health.truncated == 0 else { throw .incomplete }
      frames = []
    case .webp, .heic, .heif, .avif:  // never sent as they are
      throw ImagingError(.unsupported, "\(kind.name) is not supported.")
    }
    guard kind == .jpeg || metadata.isComplete else { throw .incomplete }
  }

  /// Whether two files look the same.
  ///
  /// Of a JPEG the averages may differ a little: a reduced one is decoded by libjpeg where something is unusual, which
  /// can be what was removed.
  func isLike(_ other: Appearance) -> Bool {
    stored == other.stored && orientation == other.orientation && model == other.model
      && colourSpace == other.colourSpace && frames == other.frames
      && zip(averages, other.averages).allSatisfy { samples, others in
        samples.count == others.count
          && zip(samples, others).allSatisfy { abs(Int($0) - Int($1)) <= Self.tolerance }
      }
  }

  /// The upright size.
  var size: PixelSize { orientation.applied(to: stored) }

  private static func resampler(_ size: PixelSize) -> FrameResampler {
    FrameResampler(
      Frame(
        of: size, width: (size.width + block - 1) / block, height: nil, fit: .contain,
        focus: .centre),
      orientation: .upright, stored: size, kernel: .area)
  }
}
