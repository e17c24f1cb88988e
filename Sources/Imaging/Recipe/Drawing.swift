import CCodecs

/// The part of a picture that is shown, decoded and resampled while its rows come: never all of it at once.
struct Drawing {
  let frame: Frame
  let orientation: Orientation
  /// The window among the stored pixels, and the size it is shown at before it is turned.
  private let window: Window
  private let target: PixelSize

  init(_ frame: Frame, orientation: Orientation, stored: PixelSize) {
    self.frame = frame
    self.orientation = orientation
    window = orientation.stored(frame.window, in: stored)
    target = orientation.applied(to: frame.size)
  }

  /// The scale at which a JPEG is decoded: the smallest that leaves the resampler enough to work with.
  ///
  /// A transform at 1/2, 1/4 or 1/8 is a box filter; what it blurs is hidden as long as the resampler
  /// still shrinks by 1.9 behind it.
  var eighths: Int {
    let shrink = min(
      window.width / Double(target.width), window.height / Double(target.height))
    return [1, 2, 4].first { shrink * Double($0) / 8 >= 1.9 } ?? 8
  }

  /// Draws a JPEG that was started: Y, Cb and Cr with halved chroma, grey, or all planes at full size.
  func draw(_ reader: JPEGReader, halvingChroma: Bool) throws(ImagingError) -> [Plane] {
    let resamplers = reader.planes.enumerated().map { index, plane in
      PlaneResampler(
        PlaneResampler.Input(
          size: PixelSize(Int(plane.width), Int(plane.height)), channels: 1,
          rowBytes: Int(plane.row_bytes), band: Int(plane.band_rows)),
        columns: weights(
          of: plane.width, from: window.x, window.width, to: target.width, scale: plane.across,
          isHalf: halvingChroma && index > 0, isMirrored: orientation.readsFromRight, multiple: 8),
        rows: weights(
          of: plane.height, from: window.y, window.height, to: target.height, scale: plane.down,
          isHalf: halvingChroma && index > 0, isMirrored: orientation.readsFromBelow, multiple: 1))
    }
    try reader.read(into: resamplers)
    return resamplers.map { $0.plane.turned(orientation) }
  }

  /// Draws a PNG that was started; a transform of 16-bit samples is applied to the rows as they come.
  func draw(
    _ reader: PNGReader, through transform: ColourTransform? = nil
  ) throws(ImagingError) -> Raster {
    let channels = transform?.outputChannels ?? reader.channels
    let shrink = window.height / Double(target.height)
    // Rows are averaged beyond a shrink of 16, where the ring would grow with the source.
    let passage = PNGReader.Passage(
      transform: transform, premultiplies: channels == 4 && window != Window(target),
      averaged: shrink > 16 ? Int(shrink / 8) : 1)
    let height = (reader.size.height + passage.averaged - 1) / passage.averaged
    let resampler = PlaneResampler(
      PlaneResampler.Input(
        size: PixelSize(reader.size.width, height), channels: channels,
        rowBytes: reader.size.width * channels, band: passage.averaged == 1 ? PNGReader.band : 1,
        isPremultiplied: passage.premultiplies),
      columns: weights(
        of: reader.info.width, from: window.x, window.width, to: target.width, scale: 1,
        multiple: channels == 1 ? 8 : 2),
      rows: weights(
        of: Int32(height), from: window.y, window.height, to: target.height,
        scale: 1 / Double(passage.averaged), multiple: 1))
    try reader.read(into: resampler, passage)
    let model: ColourModel = channels == 4 ? .rgba : channels == 3 ? .rgb : .grey
    return Raster(planes: [resampler.plane.turned(orientation)], model: model)
  }

  /// The weights along one axis of a plane.
  ///
  /// A mirrored picture of odd width pairs its pixels from the other side, so its halved samples begin one
  /// pixel earlier.
  private func weights(
    of inputs: Int32, from origin: Double, _ length: Double, to count: Int, scale: Double,
    isHalf: Bool = false, isMirrored: Bool = false, multiple: Int
  ) -> Weights {
    let step = length / Double(count)
    let shift = isHalf && isMirrored && count % 2 == 1 ? step : 0
    return Weights(
      isHalf ? (count + 1) / 2 : count, from: Int(inputs), origin: (origin - shift) * scale,
      step: step * scale * (isHalf ? 2 : 1), multiple: multiple)
  }
}
