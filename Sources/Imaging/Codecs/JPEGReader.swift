import CCodecs

/// A JPEG that is being read as raw component planes, at a scale that its transform gives for nothing.
final class JPEGReader {
  private let source: SourceFile
  private let codec: OpaquePointer
  private(set) var info: codec_jpeg_info
  private var scale: (eighths: Int32, scans: Int32) = (8, 0)

  /// Reads the header and checks it.
  init(_ source: SourceFile, limits: Limits) throws(ImagingError) {
    self.source = source
    var info = codec_jpeg_info()
    do {
      codec = try CodecMessage.of { message in
        source.withCodecSource { codec_jpeg_open($0, &info, message) }
      }
    } catch {
      throw error.damaged("JPEG")
    }
    self.info = info
    try limits.check(size)
    guard isProgressive else { return }
    try limits.check(
      coefficientBytes, against: limits.coefficientBytes, for: "This progressive JPEG",
      remedy: "Export it smaller, or without “progressive”.")
  }

  deinit { codec_jpeg_close(codec) }

  var size: PixelSize { PixelSize(Int(info.width), Int(info.height)) }
  var components: Int { Int(info.components) }
  var isProgressive: Bool { info.progressive != 0 }
  /// What the components mean.
  var model: ColourModel { ColourModel(jpeg: info) }

  /// Whether inks are stored as the light they leave, which is what Adobe's programs do.
  var isInverted: Bool { info.adobe != 0 }

  /// How the data read so far: warnings, and whether the file ended early.
  var health: codec_jpeg_health {
    var health = codec_jpeg_health()
    codec_jpeg_health_of(codec, &health)
    return health
  }

  /// The planes as they come after `start`.
  var planes: [codec_plane] {
    withUnsafeBytes(of: info.planes) { Array($0.bindMemory(to: codec_plane.self)) }
      .prefix(components).map(\.self)
  }

  /// What libjpeg keeps of a progressive picture: 16 bits for each sample.
  var coefficientBytes: Int {
    let horizontal = values(of: info.horizontal)
    let vertical = values(of: info.vertical)
    let widest = horizontal.max() ?? 1
    let highest = vertical.max() ?? 1
    return zip(horizontal, vertical).reduce(0) { sum, sampling in
      sum + size.pixels * sampling.0 * sampling.1 * 2 / (widest * highest)
    }
  }

  /// Begins to decode at 1, 2, 4 or 8 eighths of the size.
  func start(eighths: Int, limits: Limits) throws(ImagingError) {
    scale = (Int32(eighths), Int32(limits.scans))
    try begin()
  }

  private func begin() throws(ImagingError) {
    do {
      _ = try CodecMessage.of { message in
        succeeded(codec_jpeg_start(codec, scale.eighths, scale.scans, &info, message))
      }
    } catch {
      throw error.damaged("JPEG")
    }
  }

  /// Decodes rows into the resamplers, one for each plane, until these have what they need.
  ///
  /// False when the file turns out to be unusual: what was read is void, the planes are others, and
  /// it has begun again.
  func read(into resamplers: [PlaneResampler]) throws(ImagingError) -> Bool {
    let rows = planes.map { Int($0.band_rows) }
    while resamplers.contains(where: { !$0.isComplete }) {
      var band = codec_band()
      for (index, resampler) in resamplers.enumerated() {
        band.aim(index, at: resampler.slot, stride: resampler.slotStride)
      }
      switch try next(&band) {
      case .band:
        for (index, resampler) in resamplers.enumerated() { resampler.receive(rows[index]) }
      case .end: return true
      case .again: return false
      }
    }
    return true
  }

  /// Begins to decode rows of interleaved samples at full size, instead of `start`.
  func startRows(limits: Limits) throws(ImagingError) {
    do {
      _ = try CodecMessage.of { succeeded(codec_jpeg_start_rows(codec, Int32(limits.scans), $0)) }
    } catch {
      throw error.damaged("JPEG")
    }
  }

  /// Decodes the next row of grey, RGB or CMYK samples.
  func readRow(to row: UnsafeMutablePointer<UInt8>) throws(ImagingError) {
    do {
      _ = try CodecMessage.of { succeeded(codec_jpeg_row(codec, row, $0)) }
    } catch {
      throw error.damaged("JPEG")
    }
  }

  /// Reads to the end of the file and keeps nothing, so that `health` speaks of all of it.
  func skim() throws(ImagingError) {
    let sizes = planes.map { Int($0.row_bytes * $0.band_rows) }
    let scratch = UnsafeMutablePointer<UInt8>.allocate(capacity: sizes.reduce(0, +))
    defer { scratch.deallocate() }
    var band = codec_band()
    var offset = 0
    for (index, plane) in planes.enumerated() {
      band.aim(index, at: scratch + offset, stride: Int(plane.row_bytes))
      offset += sizes[index]
    }
    var step = Step.band
    while step == .band { step = try next(&band) }
    if step == .again { return try skim() }
    do {
      _ = try CodecMessage.of { succeeded(codec_jpeg_finish(codec, $0)) }
    } catch {
      throw error.damaged("JPEG")
    }
  }

  private enum Step { case band, end, again }

  private func next(_ band: inout codec_band) throws(ImagingError) -> Step {
    let status: Int32
    do {
      status = try CodecMessage.of { succeeded(codec_jpeg_band(codec, &band, $0)) }
    } catch {
      throw error.damaged("JPEG")
    }
    guard status == 2 else { return status == 1 ? .band : .end }
    try begin()
    return .again
  }

  private func values<Tuple>(of tuple: Tuple) -> [Int] {
    withUnsafeBytes(of: tuple) { $0.bindMemory(to: Int32.self).prefix(components).map(Int.init) }
  }
}

extension codec_band {
  /// Says where the rows of one plane go.
  fileprivate mutating func aim(_ plane: Int, at start: UnsafeMutablePointer<UInt8>, stride: Int) {
    withUnsafeMutableBytes(of: &rows) {
      $0.bindMemory(to: UnsafeMutablePointer<UInt8>?.self)[plane] = start
    }
    withUnsafeMutableBytes(of: &strides) { $0.bindMemory(to: Int.self)[plane] = stride }
  }
}
