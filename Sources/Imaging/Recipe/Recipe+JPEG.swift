import CCodecs

extension Recipe {
  /// Renders a JPEG in planes as they are coded, or in rows as light.
  func renderJPEG(
    _ source: SourceFile, _ anatomy: Anatomy, _ journal: inout Journal
  ) throws(ImagingError) -> RenderedPicture {
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
    guard !options.isLinear else {
      let raster = try journal.step(
        "decode and resample",
        { _ in "JPEG \(reader.size) \(model.name) to \(drawing.frame.size), in linear light" }
      ) { () throws(ImagingError) in
        try reader.startRows(limits: limits)
        return try drawing.draw(rows(of: reader, transform), inLight: true)
      }
      return try encoded(raster, &journal)
    }
    let eighths = drawing.eighths
    try reader.start(eighths: eighths, limits: limits)
    let isHalved = isStandard && model == .ycc
    let planes = try journal.step(
      "decode and resample",
      { _ in "JPEG \(reader.size) \(model.name) at \(eighths)/8 to \(drawing.frame.size)" }
    ) { () throws(ImagingError) in try drawing.draw(reader, halvingChroma: isHalved) }
    guard !isHalved else {
      return try encoded(Raster(planes: planes, model: .ycc), &journal)
    }
    let pixels = try journal.step(
      "colour", { _ in transform == nil ? "\(model.name) without a profile" : "profile to sRGB" }
    ) { standard(Mixing.interleaved(planes, model: model), reader, transform) }
    return try encoded(
      Raster(planes: [pixels], model: pixels.channels == 1 ? .grey : .rgb), &journal)
  }

  /// The rows of a JPEG as sRGB.
  private func rows(of reader: JPEGReader, _ transform: ColourTransform?) -> RowSource {
    let width = reader.size.width
    guard transform != nil || reader.model.isInks else {
      return RowSource(size: reader.size, channels: reader.components) {
        row throws(ImagingError) in try reader.readRow(to: row)
      }
    }
    var stored = [UInt8](repeating: 0, count: width * reader.components)
    return RowSource(size: reader.size, channels: 3) { row throws(ImagingError) in
      try reader.readRow(to: &stored)
      if let transform {
        transform.apply(stored, to: row, count: width)
      } else {
        codec_inks_to_rgb(stored, reader.isInverted ? 1 : 0, row, Int32(width))
      }
    }
  }

  /// The pixels of a JPEG as sRGB.
  private func standard(
    _ pixels: Plane, _ reader: JPEGReader, _ transform: ColourTransform?
  ) -> Plane {
    if let transform { return transform.applied(to: pixels) }
    return reader.model.isInks ? Mixing.rgb(ofInks: pixels, isInverted: reader.isInverted) : pixels
  }
}
