import CCodecs
import MediaTypes

/// Decodes a JPEG to its component planes, at a scale that the inverse DCT gives for nothing.
final class JPEGReader {
  private let source: SourceFile
  private let codec: OpaquePointer
  private(set) var info: codec_jpeg_info
  private var scale: (eighths: Int32, scans: Int32) = (8, 0)

  /// Reads the header and checks it.
  init(_ source: SourceFile, limits: Limits) throws(ImagingError) {
    self.source = source
    var info = codec_jpeg_info()
    codec = try callCodec(or: .damaged("JPEG")) { message in
      source.withCodecSource { codec_jpeg_open($0, &info, message) }
    }
    self.info = info
    try limits.check(size)
    guard info.several_scans != 0 else { return }
    try limits.check(
      coefficientBytes, against: limits.coefficientBytes,
      for: isProgressive ? "This progressive JPEG" : "This JPEG of several scans",
      remedy: "Export it smaller, or without “progressive”.")
  }

  deinit { codec_jpeg_close(codec) }

  var size: PixelSize { PixelSize(Int(info.width), Int(info.height)) }
  var components: Int { Int(info.components) }
  var isProgressive: Bool { info.progressive != 0 }
  /// What the components mean.
  var model: ColourModel { ColourModel(jpeg: info) }

  /// The warnings so far, and whether the file ended early.
  var health: codec_jpeg_health {
    var health = codec_jpeg_health()
    codec_jpeg_health_of(codec, &health)
    return health
  }

  /// The planes, after `start`.
  var planes: [codec_plane] {
    withUnsafeBytes(of: info.planes) { Array($0.bindMemory(to: codec_plane.self)) }
      .prefix(components).map(\.self)
  }

  /// The coefficients that libjpeg keeps of a picture of several scans: 16 bits for each sample.
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
    try call { codec_jpeg_start(codec, scale.eighths, scale.scans, &info, $0) }
  }

  /// Decodes rows into the resamplers, one for each plane, until these have what they need.
  ///
  /// - Returns: False when the file turns out to be unusual: the rows are void, the planes are others,
  ///   and decoding has begun again.
  func read(into resamplers: [PlaneResampler]) throws(ImagingError) -> Bool {
    let rows = planes.map { Int($0.band_rows) }
    while resamplers.contains(where: { !$0.isComplete }) {
      var band = codec_band()
      for (index, resampler) in resamplers.enumerated() {
        band.aim(index, at: resampler.slot, stride: resampler.stride)
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
    try call { codec_jpeg_start_rows(codec, Int32(limits.scans), $0) }
  }

  /// Decodes the next row of grey, RGB or CMYK samples.
  func readRow(to row: UnsafeMutablePointer<UInt8>) throws(ImagingError) {
    try call { codec_jpeg_row(codec, row, $0) }
  }

  /// Decodes the whole file and keeps nothing, so that `health` is that of all of it.
  func validate() throws(ImagingError) {
    let sizes = planes.map { Int($0.row_bytes * $0.band_rows) }
    let scratch = UnsafeMutablePointer<UInt8>.allocate(capacity: sizes.reduce(0, +))
    defer { scratch.deallocate() }
    var band = codec_band()
    var offset = 0
    for (index, plane) in planes.enumerated() {
      band.aim(index, at: scratch + offset, stride: Int(plane.row_bytes))
      offset += sizes[index]
    }
    var outcome = Outcome.band
    while outcome == .band { outcome = try next(&band) }
    if outcome == .again { return try validate() }
    try finish()
  }

  /// Reads what is left of the file after its rows.
  func finish() throws(ImagingError) { try call { codec_jpeg_finish(codec, $0) } }

  private enum Outcome { case band, end, again }

  private func next(_ band: inout codec_band) throws(ImagingError) -> Outcome {
    switch try call({ codec_jpeg_band(codec, &band, $0) }) {
    case 1: return .band
    case 2:
      try begin()
      return .again
    default: return .end
    }
  }

  @discardableResult
  private func call(
    _ body: (UnsafeMutablePointer<CChar>) -> Int32
  ) throws(ImagingError) -> Int32 {
    try callCodec(or: .damaged("JPEG")) { succeeded(body($0)) }
  }

  private func values<Tuple>(of tuple: Tuple) -> [Int] {
    withUnsafeBytes(of: tuple) { $0.bindMemory(to: Int32.self).prefix(components).map(Int.init) }
  }
}

extension codec_band {
  /// Sets where the rows of one plane are written.
  fileprivate mutating func aim(_ plane: Int, at start: UnsafeMutablePointer<UInt8>, stride: Int) {
    withUnsafeMutableBytes(of: &rows) {
      $0.bindMemory(to: UnsafeMutablePointer<UInt8>?.self)[plane] = start
    }
    withUnsafeMutableBytes(of: &strides) { $0.bindMemory(to: Int.self)[plane] = stride }
  }
}
