import CCodecs

/// What a picture is, found by reading all of it.
package struct Facts: Sendable {
  package let kind: PictureKind
  /// As it is seen, upright.
  package let size: PixelSize
  /// What its pixels mean.
  package let colour: String
  package let isAnimated: Bool
  package let isTransparent: Bool
  /// What a publisher should know, in sentences.
  package let advice: [String]

  /// Reads the whole picture; throws when it is not one that can be shown.
  package init(_ source: SourceFile, limits: Limits = Limits()) throws(ImagingError) {
    kind = try PictureKind(source)
    let anatomy = try Anatomy(source, kind: kind, limits: limits)
    var advice: [String] = []
    switch kind {
    case .png:
      let reader = try PNGReader(source, limits: limits, checking: true)
      guard anatomy.isComplete else { throw Self.incomplete }
      try reader.skim()
      if anatomy.isAnimated { try PNGAnimation(source, limits: limits).check() }
      size = anatomy.orientation.applied(to: reader.size)
      colour = reader.model.name
      isTransparent = reader.hasTransparency
    case .gif:
      try limits.check(try GIFPicture.canvas(of: source))
      guard anatomy.isComplete else { throw Self.incomplete }
      let picture = try GIFPicture(source, limits: limits)
      size = picture.size
      colour = "palette"
      isTransparent = picture.isTransparent
      if !picture.isWhole {
        advice.append("This GIF is damaged: a part of it is missing. Export it again.")
      }
    default:
      let reader = try JPEGReader(source, limits: limits)
      try reader.start(eighths: 1, limits: limits)
      try reader.skim()
      let health = reader.health
      guard health.truncated == 0 else { throw Self.incomplete }
      if health.warnings > 0 {
        advice.append("This JPEG is damaged: parts of it may look wrong. Export it again.")
      }
      size = anatomy.orientation.applied(to: reader.size)
      colour = reader.model.name
      isTransparent = false
    }
    isAnimated = anatomy.isAnimated
    self.advice = advice
  }

  private static let incomplete = ImagingError(
    .damaged, "The picture is incomplete. Copy or export it again.")

  /// The size in the header of a picture.
  static func size(_ source: SourceFile, _ kind: PictureKind) throws(ImagingError) -> PixelSize {
    let orientation: Orientation
    let stored: PixelSize
    let limits = Limits()
    switch kind {
    case .gif: return try GIFPicture.canvas(of: source)
    case .png: stored = try PNGReader(source, limits: limits, checking: false).size
    default: stored = try JPEGReader(source, limits: limits).size
    }
    orientation = try Anatomy(source, kind: kind, limits: limits).orientation
    return orientation.applied(to: stored)
  }
}
