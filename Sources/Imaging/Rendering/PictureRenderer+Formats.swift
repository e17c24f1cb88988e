import CCodecs
import MediaTypes

extension PictureRenderer {
  /// Renders a JPEG in planes as they are coded, or in rows in linear light.
  func renderJPEG(
    _ source: SourceFile, _ metadata: Metadata, _ recorder: inout StepRecorder
  ) throws(ImagingError) -> RenderedPicture {
    let reader = try JPEGReader(source, limits: limits)
    let resampler = self.resampler(of: reader.size, metadata)
    let model = reader.model
    let transform = ColourTransform(
      metadata.profile.map { .profile($0) } ?? .standard, channels: reader.components,
      areInks: model.isInks)
    let isStandard = transform == nil && !model.isInks
    if isStandard, let same = try unchanged(source, .jpeg, resampler, &recorder) {
      return same
    }
    guard !options.isLinear else {
      let raster = try recorder.step(
        "decode and resample",
        { _ in "JPEG \(reader.size) \(model.name) to \(resampler.frame.size), in linear light" }
      ) { () throws(ImagingError) in
        try reader.startRows(limits: limits)
        return try resampler.resample(rows(of: reader, transform), inLight: true)
      }
      return try encoded(raster, as: .jpeg, &recorder)
    }
    let eighths = resampler.eighths
    try reader.start(eighths: eighths, limits: limits)
    let isHalved = isStandard && model == .ycc
    let planes = try recorder.step(
      "decode and resample",
      { _ in "JPEG \(reader.size) \(model.name) at \(eighths)/8 to \(resampler.frame.size)" }
    ) { () throws(ImagingError) in try resampler.resample(reader, halvingChroma: isHalved) }
    guard !isHalved else {
      return try encoded(Raster(planes: planes, model: .ycc), as: .jpeg, &recorder)
    }
    let pixels = try recorder.step(
      "colour", { _ in transform == nil ? "\(model.name) without a profile" : "profile to sRGB" }
    ) { standard(Mixing.interleaved(planes, model: model), reader, transform) }
    return try encoded(Raster(pixels), as: .jpeg, &recorder)
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
        codec_inks_to_rgb(stored, row, Int32(width))
      }
    }
  }

  /// The pixels of a JPEG as sRGB.
  private func standard(
    _ pixels: Plane, _ reader: JPEGReader, _ transform: ColourTransform?
  ) -> Plane {
    if let transform { return transform.applied(to: pixels) }
    return reader.model.isInks ? Mixing.rgb(ofInks: pixels) : pixels
  }

  /// Renders a PNG in rows; 16-bit samples are converted to sRGB before they are rounded.
  func renderPNG(
    _ source: SourceFile, _ metadata: Metadata, _ recorder: inout StepRecorder
  ) throws(ImagingError) -> RenderedPicture {
    let reader = try PNGReader(source, limits: limits, checking: false)
    let resampler = self.resampler(of: reader.size, metadata)
    let space = metadata.codePoints.flatMap(ColourSpace.init(codePoints:)) ?? reader.colourSpace
    let channels = reader.model.channels
    let narrow = ColourTransform(space, channels: channels)
    if narrow == nil, let same = try unchanged(source, .png, resampler, &recorder) {
      return same
    }
    guard !metadata.hasAnimationChunks else { return try renderStill(source, metadata) }
    let isWide = narrow != nil && (reader.info.depth == 16 || options.isLinear)
    let wide = isWide ? ColourTransform(space, channels: channels, isSixteen: true) : nil
    try reader.start(sixteen: wide != nil)
    var raster = try recorder.step(
      "decode and resample",
      { (made: Raster) in
        "PNG \(reader.size) to \(resampler.frame.size), \(made.model.name)"
          + (options.isLinear ? ", in linear light" : "")
      }
    ) { () throws(ImagingError) in try resample(resampler, reader, through: wide) }
    if wide == nil, let narrow {
      raster = try recorder.step("colour", { _ in "to sRGB" }) {
        Raster(narrow.applied(to: raster.planes[0]))
      }
    }
    raster = raster.withoutUnusedChannels
    return try encoded(raster, as: resampler.format(of: raster), &recorder)
  }

  /// Renders a PNG without the chunks of its animation.
  func renderStill(
    _ source: SourceFile, _ metadata: Metadata
  ) throws(ImagingError) -> RenderedPicture {
    let still = PNGAnimation.still(of: source, showing: metadata.animation?.stillFrame)
    let rendition = try render(still)
    return RenderedPicture(
      content: .encoded(rendition.bytes(from: still)), mediaType: rendition.mediaType,
      size: rendition.size, byteCount: rendition.byteCount, steps: rendition.steps)
  }

  func resample(
    _ resampler: FrameResampler, _ reader: PNGReader, through wide: ColourTransform?
  ) throws(ImagingError) -> Raster {
    guard options.isLinear else { return try resampler.resample(reader, through: wide) }
    let rows = RowSource(size: reader.size, channels: wide?.outputChannels ?? reader.channels) {
      row throws(ImagingError) in
      try reader.read(1, to: row, stride: 0, PNGReader.RowProcessing(transform: wide))
    }
    return try resampler.resample(rows, inLight: true)
  }

  /// Renders a picture that `img-decode` decodes; 16-bit samples are converted to sRGB before they are rounded.
  func renderForeign(
    _ source: SourceFile, _ kind: PictureKind, _ recorder: inout StepRecorder
  ) throws(ImagingError) -> RenderedPicture {
    let picture = try DecodedStream(source, kind, limits: limits)
    let metadata = try Metadata(source, kind: kind, limits: limits)
    let resampler = self.resampler(of: picture.size, metadata)
    let transform = ColourTransform(
      picture.colourSpace, channels: picture.channels, isSixteen: picture.isWide)
    let isEarly = picture.isWide || options.isLinear
    var raster = try recorder.step(
      "decode and resample",
      { (made: Raster) in
        "\(kind.name) \(picture.size) to \(resampler.frame.size), \(made.model.name)"
          + (options.isLinear ? ", in linear light" : "")
      }
    ) { () throws(ImagingError) in
      try resampler.resample(
        picture.rows(through: isEarly ? transform : nil), inLight: options.isLinear)
    }
    if !isEarly, let transform {
      raster = try recorder.step("colour", { _ in "to sRGB" }) {
        Raster(transform.applied(to: raster.planes[0]))
      }
    }
    raster = raster.withoutUnusedChannels
    let format = resampler.format(of: raster, isLossless: metadata.isLossless)
    return try encoded(raster, as: format, &recorder)
  }

  /// Renders the first picture of a GIF, unless the file is as requested.
  func renderGIF(
    _ source: SourceFile, _ metadata: Metadata, _ recorder: inout StepRecorder
  ) throws(ImagingError) -> RenderedPicture {
    let canvas = try GIFPicture.canvas(of: source)
    try limits.check(canvas)
    let resampler = self.resampler(of: canvas, metadata)
    if options.profile?.plays ?? true,
      let same = try unchanged(source, .gif, resampler, &recorder)
    {
      return same
    }
    let raster = try recorder.step(
      "decode and resample",
      { (made: Raster) in
        "the first picture of the GIF \(resampler.stored) to \(resampler.frame.size), \(made.model.name)"
      }
    ) { () throws(ImagingError) in
      let picture = try GIFPicture(source, limits: limits)
      return try resampler.resample(picture.rows, inLight: options.isLinear).withoutUnusedChannels
    }
    return try encoded(raster, as: resampler.format(of: raster), &recorder)
  }
}
