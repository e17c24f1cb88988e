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
    kind = try PictureKind.accepted(source)
    let anatomy = try Anatomy(source, kind: kind, limits: limits)
    var advice: [String] = []
    switch kind {
    case .png:
      let reader = try PNGReader(source, limits: limits, checking: true)
      guard anatomy.isComplete else {
        throw ImagingError(
          .damaged, "The PNG is truncated: it breaks off after \(source.size) bytes.")
      }
      try reader.skim()
      size = anatomy.orientation.applied(to: reader.size)
      colour = reader.model.name
      isTransparent = reader.hasTransparency
    case .gif:
      guard anatomy.isComplete else {
        throw ImagingError(
          .damaged, "The GIF is truncated: it breaks off after \(source.size) bytes.")
      }
      let picture = try GIFPicture(source, limits: limits)
      size = picture.size
      colour = "palette"
      isTransparent = picture.isTransparent
      if !picture.isWhole { advice.append("The GIF is damaged; it is shown as far as it goes.") }
    default:
      let reader = try JPEGReader(source, limits: limits)
      try reader.start(eighths: 1, limits: limits)
      try reader.skim()
      let health = reader.health
      guard health.truncated == 0 else {
        throw ImagingError(
          .damaged, "The JPEG is truncated: it breaks off after \(source.size) bytes.")
      }
      if health.warnings > 0 {
        advice.append(
          "The JPEG is damaged in \(health.warnings) places; it is shown as far as it goes.")
      }
      size = anatomy.orientation.applied(to: reader.size)
      colour = reader.model.name
      isTransparent = false
    }
    isAnimated = anatomy.isAnimated
    if isAnimated {
      advice.append("It moves for the profiles ios and web; all others show its first picture.")
    }
    self.advice = advice
  }

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

extension PictureKind {
  /// The kind of a picture that is handled; the others are refused with what to do instead.
  package static func accepted(_ source: SourceFile) throws(ImagingError) -> PictureKind {
    guard let kind = PictureKind(source) else {
      throw ImagingError(
        .unsupported, "The file is not a picture: its bytes are not those of a JPEG, PNG or GIF.")
    }
    guard [.webp, .heic, .avif].contains(kind) else { return kind }
    throw ImagingError(
      .unsupported,
      "The picture is \(kind.mediaType), which phones do not show in a notification; "
        + "export it as JPEG, or as PNG when it is transparent.")
  }
}
