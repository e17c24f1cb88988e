import CCodecs

/// The part of a picture that is shown, decoded and resampled while its rows come: never all of it at once.
struct Drawing {
  let frame: Frame
  let orientation: Orientation
  /// The size of the stored pixels.
  let stored: PixelSize
  /// `area` for a graphic, whose edges stay sharp and whose flat parts stay flat.
  let kernel: Kernel
  /// The window among the stored pixels, and the size it is shown at before it is turned.
  private let window: Crop
  private let target: PixelSize

  init(
    _ frame: Frame, orientation: Orientation, stored: PixelSize, kernel: Kernel = .lanczos
  ) {
    self.kernel = kernel
    self.frame = frame
    self.orientation = orientation
    self.stored = stored
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

  /// Whether what was drawn is better kept in a PNG than in a JPEG: it can be seen through, or is flat, or it is a
  /// graphic in few colours.
  func suitsPNG(_ raster: Raster) -> Bool {
    raster.model == .rgba || raster.flatness > 0.4
      || kernel == .area && Palette(exactly: raster) != nil
  }

  /// Draws a JPEG that was started: Y, Cb and Cr with halved chroma, grey, or all planes at full size.
  func draw(_ reader: JPEGReader, halvingChroma: Bool) throws(ImagingError) -> [Plane] {
    var known: [PlaneWeights] = []  // Cb and Cr have the same
    let resamplers = reader.planes.enumerated().map { index, plane in
      let isHalf = halvingChroma && index > 0
      let weights =
        known.first { $0.isHalf == isHalf && $0.plane == plane }
        ?? self.weights(of: plane, isHalf: isHalf)
      known.append(weights)
      return PlaneResampler(
        PlaneResampler.Input(
          size: PixelSize(Int(plane.width), Int(plane.height)), channels: 1,
          rowBytes: Int(plane.row_bytes), band: Int(plane.band_rows)),
        columns: weights.columns, rows: weights.rows)
    }
    guard try reader.read(into: resamplers) else {
      return try draw(reader, halvingChroma: halvingChroma)
    }
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
      transform: transform, premultiplies: channels == 4 && window != Crop(target),
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

  /// Draws rows that come one by one, resampled as they are coded or in linear light.
  func draw(_ rows: RowSource, inLight: Bool) throws(ImagingError) -> Raster {
    let channels = rows.channels
    let columns = weights(
      of: Int32(rows.size.width), from: window.x, window.width, to: target.width, scale: 1,
      multiple: inLight ? 1 : channels == 1 ? 8 : 2)
    let lines = weights(
      of: Int32(rows.size.height), from: window.y, window.height, to: target.height, scale: 1,
      multiple: 1)
    let plane =
      inLight
      ? try rows.read(
        into: LightResampler(rows.size, channels: channels, columns: columns, rows: lines))
      : try rows.read(
        into: PlaneResampler(
          PlaneResampler.Input(
            size: rows.size, channels: channels, rowBytes: rows.size.width * channels, band: 1,
            isPremultiplied: channels == 4), columns: columns, rows: lines))
    let model: ColourModel = channels == 4 ? .rgba : channels == 3 ? .rgb : .grey
    return Raster(planes: [plane.turned(orientation)], model: model)
  }

  private struct PlaneWeights {
    let plane: codec_plane
    let isHalf: Bool
    let columns: Weights
    let rows: Weights
  }

  /// The weights of a plane of a JPEG.
  private func weights(of plane: codec_plane, isHalf: Bool) -> PlaneWeights {
    PlaneWeights(
      plane: plane, isHalf: isHalf,
      columns: weights(
        of: plane.width, from: window.x, window.width, to: target.width, scale: plane.across,
        isHalf: isHalf, isMirrored: orientation.readsFromRight, multiple: 8),
      rows: weights(
        of: plane.height, from: window.y, window.height, to: target.height, scale: plane.down,
        isHalf: isHalf, isMirrored: orientation.readsFromBelow, multiple: 1))
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
      step: step * scale * (isHalf ? 2 : 1), kernel: kernel, multiple: multiple)
  }
}

extension codec_plane {
  /// Whether the samples of two planes stand at the same places.
  fileprivate static func == (one: codec_plane, other: codec_plane) -> Bool {
    one.width == other.width && one.height == other.height && one.across == other.across
      && one.down == other.down
  }
}
