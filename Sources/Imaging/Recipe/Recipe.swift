/// Makes the picture that was asked for, as a list of steps.
package struct Recipe: Sendable {
  package let options: Options
  package let limits: Limits

  package init(_ options: Options, limits: Limits = Limits()) {
    self.options = options
    self.limits = limits
  }

  /// Renders a picture; what needs no change passes through, cleaned of private metadata.
  package func render(_ source: SourceFile) throws(ImagingError) -> Rendition {
    var journal = Journal()
    let kind = try PictureKind.accepted(source)
    if options.areEmpty || kind == .gif {
      try checkGIF(source, kind)
      return try passing(source, kind, size: nil, &journal)
    }
    let anatomy = Anatomy(source, kind: kind, limits: limits)
    return kind == .jpeg
      ? try renderJPEG(source, anatomy, &journal) : try renderPNG(source, anatomy, &journal)
  }

  private func checkGIF(_ source: SourceFile, _ kind: PictureKind) throws(ImagingError) {
    guard let ceiling = options.ceiling, source.size > ceiling else { return }
    throw ImagingError(
      .unreachable,
      "The GIF has \(source.size) bytes and \(ceiling) are allowed; GIFs are sent as they are, so export a "
        + "smaller one.")
  }

  private func renderJPEG(
    _ source: SourceFile, _ anatomy: Anatomy, _ journal: inout Journal
  ) throws(ImagingError) -> Rendition {
    let reader = try JPEGReader(source, limits: limits)
    let drawing = self.drawing(of: reader.size, anatomy)
    let model = reader.model
    let transform = ColourTransform(
      anatomy.profile.map { .profile($0) } ?? .standard,
      ColourTransform.Pixels(
        channels: reader.components, areInks: model.isInks, isInverted: reader.isInverted))
    let isStandard = transform == nil && !model.isInks
    if isStandard, let same = try unchanged(source, .jpeg, reader.size, drawing, &journal) {
      return same
    }
    let eighths = drawing.eighths
    try reader.start(eighths: eighths, limits: limits)
    let isHalved = isStandard && model == .ycc
    let planes = try journal.step(
      "decode and resample",
      { _ in "JPEG \(reader.size) \(model.name) at \(eighths)/8 to \(drawing.frame.size)" }
    ) { () throws(ImagingError) in try drawing.draw(reader, halvingChroma: isHalved) }
    guard !isHalved else {
      return try encoded(Raster(planes: planes, model: .ycc), asPNG: false, from: source, &journal)
    }
    let pixels = try journal.step(
      "colour", { _ in transform == nil ? "\(model.name) without a profile" : "profile to sRGB" }
    ) { standard(Mixing.interleaved(planes, model: model), reader, transform) }
    return try encoded(
      Raster(planes: [pixels], model: pixels.channels == 1 ? .grey : .rgb), asPNG: false,
      from: source, &journal)
  }

  /// The pixels of a JPEG as sRGB.
  private func standard(
    _ pixels: Plane, _ reader: JPEGReader, _ transform: ColourTransform?
  ) -> Plane {
    if let transform { return transform.applied(to: pixels) }
    return reader.model.isInks ? Mixing.rgb(ofInks: pixels, isInverted: reader.isInverted) : pixels
  }

  private func renderPNG(
    _ source: SourceFile, _ anatomy: Anatomy, _ journal: inout Journal
  ) throws(ImagingError) -> Rendition {
    let reader = try PNGReader(source, limits: limits, checking: false)
    let drawing = self.drawing(of: reader.size, anatomy)
    let space = anatomy.codePoints.flatMap(ColourSpace.init(codePoints:)) ?? reader.colourSpace
    let channels = reader.model.channels
    let narrow = ColourTransform(space, ColourTransform.Pixels(channels: channels))
    if narrow == nil, let same = try unchanged(source, .png, reader.size, drawing, &journal) {
      return same
    }
    let isWide = narrow != nil && reader.isSixteen
    let wide =
      isWide
      ? ColourTransform(space, ColourTransform.Pixels(channels: channels, isSixteen: true)) : nil
    try reader.start(sixteen: wide != nil)
    var raster = try journal.step(
      "decode and resample",
      { "PNG \(reader.size) to \(drawing.frame.size), \($0.model.name)" }
    ) { () throws(ImagingError) in try drawing.draw(reader, through: wide) }
    if wide == nil, let narrow {
      raster = try journal.step("colour", { _ in "to sRGB" }) {
        Raster(planes: [narrow.applied(to: raster.planes[0])], model: raster.model)
      }
    }
    raster = raster.withoutIdleAlpha
    return try encoded(
      raster, asPNG: raster.model == .rgba || raster.flatness > 0.4, from: source, &journal)
  }

  private func drawing(of stored: PixelSize, _ anatomy: Anatomy) -> Drawing {
    let box = options.box
    let frame = Frame(
      of: anatomy.orientation.applied(to: stored), width: box.width, height: box.height,
      fit: options.fit, focus: options.focus)
    return Drawing(frame, orientation: anatomy.orientation, stored: stored)
  }

  /// The source itself, when its pixels are what was asked for.
  private func unchanged(
    _ source: SourceFile, _ kind: PictureKind, _ stored: PixelSize, _ drawing: Drawing,
    _ journal: inout Journal
  ) throws(ImagingError) -> Rendition? {
    guard drawing.orientation == .upright, drawing.frame.size == stored,
      options.ceiling.map({ source.size <= $0 }) ?? true
    else { return nil }
    return try passing(source, kind, size: stored, &journal)
  }

  private func passing(
    _ source: SourceFile, _ kind: PictureKind, size: PixelSize?, _ journal: inout Journal
  ) throws(ImagingError) -> Rendition {
    let size = if let size { size } else { try Facts.size(source, kind) }
    let copy = try journal.step(
      "pass through",
      { $0.removed.isEmpty ? "bit for bit" : "without \($0.removed.joined(separator: ", "))" }
    ) { CleanCopy(source, kind: kind) }
    return Rendition(
      content: copy.removed.isEmpty ? .original : .cleaned(copy), mediaType: kind.mediaType,
      size: size, byteCount: copy.size, steps: journal.steps)
  }

  /// Bytes that are not worth a worse picture, whatever the source had.
  private static let trifle = 4096

  /// The encoding, not larger than the ceiling and, where that is possible, not larger than the source.
  private func encoded(
    _ raster: Raster, asPNG: Bool, from source: SourceFile, _ journal: inout Journal
  ) throws(ImagingError) -> Rendition {
    func encode(_ limit: Int?) throws(ImagingError) -> Encoded {
      var ceiling = ByteCeiling(limit)
      return asPNG ? try ceiling.png(raster) : try ceiling.jpeg(raster)
    }
    let encoded = try journal.step(
      "encode", { (made: Encoded) in "\(made.detail), \(made.size), \(made.bytes.count) bytes" }
    ) { () throws(ImagingError) in
      let first = try encode(options.ceiling)
      let limit = max(source.size, Self.trifle)
      guard first.bytes.count > limit else { return first }
      return (try? encode(limit)) ?? first
    }
    return Rendition(
      content: .encoded(encoded.bytes), mediaType: encoded.mediaType, size: encoded.size,
      byteCount: encoded.bytes.count, steps: journal.steps)
  }
}
