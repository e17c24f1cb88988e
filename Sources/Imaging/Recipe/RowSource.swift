import CCodecs

/// Rows of a decoded picture, top to bottom, as grey, RGB or RGBA samples in sRGB.
struct RowSource {
  let size: PixelSize
  /// 1 grey, 3 RGB, 4 RGBA.
  let channels: Int
  /// Writes the next row.
  let next: (UnsafeMutablePointer<UInt8>) throws(ImagingError) -> Void

  /// Feeds a resampler of codes until it has what it needs.
  func read(into resampler: PlaneResampler) throws(ImagingError) -> Plane {
    for _ in 0..<size.height where !resampler.isComplete {
      let row = resampler.slot
      try next(row)
      if channels == 4 { codec_premultiply(row, size.width) }
      resampler.receive(1)
    }
    return resampler.plane
  }

  /// Feeds a resampler of light until it has what it needs.
  func read(into resampler: LightResampler) throws(ImagingError) -> Plane {
    let row = UnsafeMutablePointer<UInt8>.allocate(capacity: size.width * channels)
    defer { row.deallocate() }
    for _ in 0..<size.height where !resampler.isComplete {
      try next(row)
      resampler.receive(row)
    }
    return resampler.plane
  }
}
