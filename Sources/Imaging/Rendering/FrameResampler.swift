import CCodecs
import MediaTypes

/// Decodes and resamples the visible part of a picture, row by row: never all of it is in memory.
struct FrameResampler {
  let frame: Frame
  let orientation: Orientation
  /// The size of the stored pixels.
  let stored: PixelSize
  /// `area` for a graphic, whose edges stay sharp and whose flat parts stay flat.
  let kernel: Kernel
  /// The visible rectangle of the stored pixels, and its size before it is turned.
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
  /// Decoding at 1/2, 1/4 or 1/8 is a box filter; its blur is invisible as long as the resampler shrinks
  /// by 1.9 more.
  var eighths: Int {
    let shrink = min(
      window.width / Double(target.width), window.height / Double(target.height))
    return [1, 2, 4].first { shrink * Double($0) / 8 >= 1.9 } ?? 8
  }

  /// The format that suits the result: PNG if it is transparent, or flat, or a graphic in few colours.
  ///
  /// Flat parts of what was coded with loss are no sign of a drawing.
  func format(of raster: Raster, isLossless: Bool = true) -> PictureFormat {
    guard raster.model != .rgba else { return .png }
    let isDrawing =
      raster.flatness > 0.4 || kernel == .area && Palette(exactly: raster) != nil
    return isLossless && isDrawing ? .png : .jpeg
  }

  /// Resamples a JPEG after `start`: Y, Cb and Cr with halved chroma, grey, or all planes at full size.
  func resample(_ reader: JPEGReader, halvingChroma: Bool) throws(ImagingError) -> [Plane] {
    var known: [[Double]: (columns: Weights, rows: Weights)] = [:]  // Cb and Cr have the same
    let resamplers = reader.planes.enumerated().map { index, plane in
      let isHalf = halvingChroma && index > 0
      let key = [
        Double(plane.width), Double(plane.height), plane.across, plane.down, isHalf ? 1 : 0,
      ]
      let weights = known[key] ?? self.weights(of: plane, isHalf: isHalf)
      known[key] = weights
      return PlaneResampler(
        PixelSize(Int(plane.width), Int(plane.height)), channels: 1,
        rowBytes: Int(plane.row_bytes), band: Int(plane.band_rows), columns: weights.columns,
        rows: weights.rows)
    }
    guard try reader.read(into: resamplers) else {
      return try resample(reader, halvingChroma: halvingChroma)
    }
    return resamplers.map { $0.plane.turned(orientation) }
  }

  /// Resamples a PNG after `start`; a transform of 16-bit samples is applied to each row.
  func resample(
    _ reader: PNGReader, through transform: ColourTransform? = nil
  ) throws(ImagingError) -> Raster {
    let channels = transform?.outputChannels ?? reader.channels
    let shrink = window.height / Double(target.height)
    // Rows are averaged beyond a shrink of 16, where the ring would grow with the source.
    let processing = PNGReader.RowProcessing(
      transform: transform, premultiplies: channels == 4 && window != Crop(target),
      averaged: shrink > 16 ? Int(shrink / 8) : 1)
    let averaged = processing.averaged
    let size = PixelSize(reader.size.width, (reader.size.height + averaged - 1) / averaged)
    let resampler = PlaneResampler(
      size, channels: channels, band: averaged == 1 ? PNGReader.band : 1,
      isPremultiplied: processing.premultiplies, columns: columns(of: size, channels: channels),
      rows: rows(of: size, scale: 1 / Double(averaged)))
    try reader.read(into: resampler, processing)
    return Raster(resampler.plane.turned(orientation))
  }

  /// Resamples rows as they are coded or in linear light.
  func resample(_ rows: RowSource, inLight: Bool) throws(ImagingError) -> Raster {
    let (size, channels, lines) = (rows.size, rows.channels, self.rows(of: rows.size))
    let plane =
      inLight
      ? try rows.read(
        into: LightResampler(
          size, channels: channels, columns: columns(of: size, channels: nil), rows: lines))
      : try rows.read(
        into: PlaneResampler(
          size, channels: channels, isPremultiplied: channels == 4,
          columns: columns(of: size, channels: channels), rows: lines))
    return Raster(plane.turned(orientation))
  }

  /// The weights across interleaved samples; nil channels for `LightResampler`.
  private func columns(of size: PixelSize, channels: Int?) -> Weights {
    weights(
      of: size.width, from: window.x, window.width, to: target.width, scale: 1,
      multiple: channels.map { $0 == 1 ? 8 : 2 } ?? 1)
  }

  /// The weights down interleaved samples.
  private func rows(of size: PixelSize, scale: Double = 1) -> Weights {
    weights(
      of: size.height, from: window.y, window.height, to: target.height, scale: scale, multiple: 1)
  }

  /// The weights of a plane of a JPEG.
  private func weights(
    of plane: codec_plane, isHalf: Bool
  ) -> (columns: Weights, rows: Weights) {
    (
      columns: weights(
        of: Int(plane.width), from: window.x, window.width, to: target.width, scale: plane.across,
        isHalf: isHalf, isMirrored: orientation.readsFromRight, multiple: 8),
      rows: weights(
        of: Int(plane.height), from: window.y, window.height, to: target.height, scale: plane.down,
        isHalf: isHalf, isMirrored: orientation.readsFromBelow, multiple: 1)
    )
  }

  /// The weights along one axis of a plane.
  ///
  /// A mirrored picture of odd width pairs its pixels from the other side, so its halved samples begin
  /// one pixel earlier.
  private func weights(
    of inputs: Int, from origin: Double, _ length: Double, to count: Int, scale: Double,
    isHalf: Bool = false, isMirrored: Bool = false, multiple: Int
  ) -> Weights {
    let step = length / Double(count)
    let shift = isHalf && isMirrored && count % 2 == 1 ? step : 0
    return Weights(
      isHalf ? (count + 1) / 2 : count, from: inputs, origin: (origin - shift) * scale,
      step: step * scale * (isHalf ? 2 : 1), kernel: kernel, multiple: multiple)
  }
}
