import CCodecs
package import MediaTypes

/// The facts about a picture, found by decoding all of it.
package struct Facts: Sendable {
  package let kind: PictureKind
  /// The upright size.
  package let size: PixelSize
  /// What its pixels mean.
  package let colour: String
  package let isAnimated: Bool
  package let isTransparent: Bool
  /// What it looks like from afar.
  package let thumbHash: PictureHash?
  /// What a publisher should know, in sentences.
  package let advice: [String]

  /// After so long a picture gets no hash.
  private static let longestBeforeHash = Duration.seconds(5)

  /// Decodes the whole picture; throws when that fails.
  package init(_ source: SourceFile, limits: Limits = Limits()) throws(ImagingError) {
    let start = ContinuousClock.now
    kind = try PictureKind(source)
    let metadata = try Metadata(source, kind: kind, limits: limits)
    var advice: [String] = []
    var isAnimated = metadata.isAnimated
    switch kind {
    case .png:
      let reader = try PNGReader(source, limits: limits, checking: true)
      guard metadata.isComplete else { throw .incomplete }
      try reader.validate()
      try metadata.animation?.validate(source, limits: limits)
      if metadata.hasUnplayedFrames {
        advice.append(
          "Browsers don't play the animation in this PNG, so it is sent as a still picture. "
            + "Export it again if it is to move.")
      }
      size = metadata.orientation.applied(to: reader.size)
      colour = reader.model.name
      isTransparent = reader.hasTransparency
    case .gif:
      try limits.check(try GIFPicture.canvas(of: source))
      guard metadata.isComplete else { throw .incomplete }
      let picture = try GIFPicture(source, limits: limits)
      size = picture.size
      colour = "palette"
      isTransparent = picture.isTransparent
      if isAnimated {
        // Chromium stops at a picture that lacks some of its pixels.
        let second = try? GIFPicture(source, limits: limits, isSecond: true)
        isAnimated = picture.isWhole && second?.isWhole == true
      }
      if !picture.isWhole || isAnimated != metadata.isAnimated {
        advice.append("This GIF is damaged: a part of it is missing. Export it again.")
      }
    case .webp, .heic, .heif, .avif:
      let picture = try DecodedStream(source, kind, limits: limits)
      try picture.validate()
      size = metadata.orientation.applied(to: picture.size)
      colour = picture.model.name
      isTransparent = picture.channels == 4
      isAnimated = picture.isAnimation
    case .jpeg:
      let reader = try JPEGReader(source, limits: limits)
      try reader.start(eighths: 1, limits: limits)
      try reader.validate()
      let health = reader.health
      guard health.truncated == 0 else { throw .incomplete }
      if health.warnings > 0 {
        advice.append("This JPEG is damaged: parts of it may look wrong. Export it again.")
      }
      size = metadata.orientation.applied(to: reader.size)
      colour = reader.model.name
      isTransparent = false
    }
    self.isAnimated = isAnimated
    // It is decoded once more for that, for which a picture that takes long leaves no time.
    let isFast = ContinuousClock.now - start < Self.longestBeforeHash
    thumbHash = isFast ? PictureHash(source, limits: limits) : nil
    self.advice = advice
  }
}
