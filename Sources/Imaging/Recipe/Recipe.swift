/// Makes the picture that was asked for, as a list of steps.
package struct Recipe: Sendable {
  package let options: Options
  package let limits: Limits

  package init(_ options: Options, limits: Limits = Limits()) {
    self.options = options
    self.limits = limits
  }

  /// Renders a picture; what needs no change passes through, cleaned of private metadata.
  package func render(_ source: SourceFile) throws(ImagingError) -> RenderedPicture {
    var journal = Journal()
    let kind = try PictureKind(source)
    if options.areEmpty { return try passing(source, kind, size: nil, &journal) }
    let anatomy = try Anatomy(source, kind: kind, limits: limits)
    if anatomy.isAnimated, options.keepsAnimation, fits(source) {
      return try passing(source, kind, size: nil, &journal)
    }
    switch kind {
    case .png: return try renderPNG(source, anatomy, &journal)
    case .gif: return try renderGIF(source, anatomy, &journal)
    default: return try renderJPEG(source, anatomy, &journal)
    }
  }

  /// What is shown of a picture whose stored pixels have that size.
  func drawing(of stored: PixelSize, _ anatomy: Anatomy) -> Drawing {
    let box = options.box
    let frame = Frame(
      of: anatomy.orientation.applied(to: stored), width: box.width, height: box.height,
      fit: options.fit, focus: options.focus)
    return Drawing(
      frame, orientation: anatomy.orientation, stored: stored,
      kernel: anatomy.isGraphic(pixels: stored.pixels) ? .area : .lanczos)
  }

  /// The source itself, when its pixels are what was asked for.
  func unchanged(
    _ source: SourceFile, _ kind: PictureKind, _ stored: PixelSize, _ drawing: Drawing,
    _ journal: inout Journal
  ) throws(ImagingError) -> RenderedPicture? {
    guard drawing.orientation == .upright, drawing.frame.size == stored,
      fits(source)
    else { return nil }
    return try passing(source, kind, size: stored, &journal)
  }

  /// Whether the source has no more bytes than are allowed.
  private func fits(_ source: SourceFile) -> Bool {
    options.ceiling.map { source.size <= $0 } ?? true
  }

  private func passing(
    _ source: SourceFile, _ kind: PictureKind, size: PixelSize?, _ journal: inout Journal
  ) throws(ImagingError) -> RenderedPicture {
    let size = if let size { size } else { try Facts.size(source, kind) }
    let copy = try journal.step(
      "pass through",
      { $0.removed.isEmpty ? "bit for bit" : "without \($0.removed.joined(separator: ", "))" }
    ) { CleanCopy(source, kind: kind) }
    return RenderedPicture(
      content: copy.removed.isEmpty ? .original : .cleaned(copy), mediaType: kind.mediaType,
      size: size, byteCount: copy.size, steps: journal.steps)
  }

  /// The encoding, not larger than the ceiling; the source's own bytes are none.
  func encoded(
    _ raster: Raster, asPNG: Bool = false, _ journal: inout Journal
  ) throws(ImagingError) -> RenderedPicture {
    let encoded = try journal.step(
      "encode", { (made: Encoded) in "\(made.detail), \(made.size), \(made.bytes.count) bytes" }
    ) { () throws(ImagingError) in
      var ceiling = ByteCeiling(options.ceiling)
      return asPNG ? try ceiling.png(raster) : try ceiling.jpeg(raster)
    }
    return RenderedPicture(
      content: .encoded(encoded.bytes), mediaType: encoded.mediaType, size: encoded.size,
      byteCount: encoded.bytes.count, steps: journal.steps)
  }
}
