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
    return Drawing(frame, orientation: anatomy.orientation, stored: stored)
  }

  /// The source itself, when its pixels are what was asked for.
  func unchanged(
    _ source: SourceFile, _ kind: PictureKind, _ stored: PixelSize, _ drawing: Drawing,
    _ journal: inout Journal
  ) throws(ImagingError) -> Rendition? {
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
  func encoded(
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
