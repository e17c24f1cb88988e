extension Recipe {
  /// Renders the first picture of a GIF, unless the file is what was asked for.
  func renderGIF(
    _ source: SourceFile, _ anatomy: Anatomy, _ journal: inout Journal
  ) throws(ImagingError) -> RenderedPicture {
    let canvas = try GIFPicture.canvas(of: source)
    try limits.check(canvas)
    let drawing = self.drawing(of: canvas, anatomy)
    if options.profile?.plays ?? true,
      let same = try unchanged(source, .gif, drawing.stored, drawing, &journal)
    {
      return same
    }
    let raster = try journal.step(
      "decode and resample",
      { (made: Raster) in
        "the first picture of the GIF \(drawing.stored) to \(drawing.frame.size), \(made.model.name)"
      }
    ) { () throws(ImagingError) in
      let picture = try GIFPicture(source, limits: limits)
      return try drawing.draw(picture.rows, inLight: options.isLinear).withoutIdleChannels
    }
    return try encoded(raster, asPNG: drawing.suitsPNG(raster), &journal)
  }
}
