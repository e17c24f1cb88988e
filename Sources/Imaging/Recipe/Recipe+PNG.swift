extension Recipe {
  /// Renders a PNG in rows; 16-bit samples are brought to sRGB before they are rounded.
  func renderPNG(
    _ source: SourceFile, _ anatomy: Anatomy, _ journal: inout Journal
  ) throws(ImagingError) -> RenderedPicture {
    let reader = try PNGReader(source, limits: limits, checking: false)
    let drawing = self.drawing(of: reader.size, anatomy)
    let space = anatomy.codePoints.flatMap(ColourSpace.init(codePoints:)) ?? reader.colourSpace
    let channels = reader.model.channels
    let narrow = ColourTransform(space, ColourTransform.Pixels(channels: channels))
    if narrow == nil, let same = try unchanged(source, .png, reader.size, drawing, &journal) {
      return same
    }
    let isWide = narrow != nil && (reader.isSixteen || options.isLinear)
    let wide =
      isWide
      ? ColourTransform(space, ColourTransform.Pixels(channels: channels, isSixteen: true)) : nil
    try reader.start(sixteen: wide != nil)
    var raster = try journal.step(
      "decode and resample",
      { (made: Raster) in
        "PNG \(reader.size) to \(drawing.frame.size), \(made.model.name)"
          + (options.isLinear ? ", in linear light" : "")
      }
    ) { () throws(ImagingError) in try draw(drawing, reader, through: wide) }
    if wide == nil, let narrow {
      raster = try journal.step("colour", { _ in "to sRGB" }) {
        Raster(planes: [narrow.applied(to: raster.planes[0])], model: raster.model)
      }
    }
    raster = raster.withoutIdleChannels
    return try encoded(raster, asPNG: drawing.suitsPNG(raster), &journal)
  }

  func draw(
    _ drawing: Drawing, _ reader: PNGReader, through wide: ColourTransform?
  ) throws(ImagingError) -> Raster {
    guard options.isLinear else { return try drawing.draw(reader, through: wide) }
    let rows = RowSource(size: reader.size, channels: wide?.outputChannels ?? reader.channels) {
      row throws(ImagingError) in try reader.readRow(to: row, through: wide)
    }
    return try drawing.draw(rows, inLight: true)
  }
}
