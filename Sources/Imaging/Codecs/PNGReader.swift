import CCodecs
import MediaTypes

/// Decodes a PNG to rows of grey, RGB or RGBA samples.
final class PNGReader {
  private let source: SourceFile
  private let codec: OpaquePointer
  private(set) var info: codec_png_info

  /// Reads the header and checks it.
  ///
  /// Without `checking` the CRC and Adler-32 of the pixels are not computed, which saves time for a file that was
  /// checked before.
  init(_ source: SourceFile, limits: Limits, checking: Bool) throws(ImagingError) {
    self.source = source
    try limits.check(try Self.size(source))  // before libpng sees anything
    var info = codec_png_info()
    codec = try callCodec(or: .damaged("PNG")) { message in
      source.withCodecSource {
        codec_png_open($0, limits.ancillaryBytes, checking ? 1 : 0, &info, message)
      }
    }
    self.info = info
    guard info.limited == 0 else {
      throw ImagingError(
        .tooLarge,
        "This PNG has a colour profile that is too large. Export it as sRGB.",
        detail: "a chunk of more than \(limits.ancillaryBytes >> 20) MiB")
    }
    if info.interlaced != 0 {
      let bytes = size.pixels * 4 * (info.depth == 16 ? 2 : 1)
      try limits.check(
        bytes, against: limits.bitmapBytes, for: "This interlaced PNG",
        remedy: "Export it smaller, or without “interlaced”.")
    }
  }

  deinit { codec_png_close(codec) }

  var size: PixelSize { PixelSize(Int(info.width), Int(info.height)) }
  var hasTransparency: Bool { info.has_transparency != 0 }
  /// Samples of a decoded pixel: 1, 3 or 4.
  var channels: Int { Int(info.channels) }

  /// The colour space by iCCP, sRGB, gAMA and cHRM, in that order (PNG third edition, 4.3).
  var colourSpace: ColourSpace {
    if let profile = info.profile {
      return .profile(Array(UnsafeBufferPointer(start: profile, count: info.profile_size)))
    }
    guard info.has_srgb == 0, info.has_gamma != 0 || info.has_chromaticities != 0 else {
      return .standard
    }
    let chromaticities = withUnsafeBytes(of: info.chromaticities) {
      Array($0.bindMemory(to: Double.self))
    }
    return ColourSpace(
      gamma: info.has_gamma != 0 ? info.gamma : nil,
      chromaticities: info.has_chromaticities != 0 ? chromaticities : nil)
  }

  /// Begins to decode to 8-bit samples, or to 16-bit ones for a transform that takes these.
  func start(sixteen: Bool = false) throws(ImagingError) {
    try call { codec_png_start(codec, sixteen ? 1 : 0, &info, $0) }
  }

  /// What is done to rows before they are resampled.
  struct RowProcessing {
    /// Applied to the 16-bit samples of `start(sixteen: true)`.
    var transform: ColourTransform?
    /// Whether colours are multiplied by alpha.
    var premultiplies = false
    /// How many rows are averaged into one.
    var averaged = 1
  }

  /// Decodes rows into the resampler until it has what it needs.
  func read(into resampler: PlaneResampler, _ processing: RowProcessing) throws(ImagingError) {
    guard processing.averaged == 1 else { return try readAverages(into: resampler, processing) }
    var left = size.height
    while left > 0, !resampler.isComplete {
      let count = min(Self.band, left)
      try read(count, to: resampler.slot, stride: resampler.stride, processing)
      resampler.receive(count)
      left -= count
    }
  }

  private func readAverages(
    into resampler: PlaneResampler, _ processing: RowProcessing
  ) throws(ImagingError) {
    let bytes = size.width * (processing.transform?.outputChannels ?? channels)
    let average = RowAverage(of: processing.averaged, bytes: bytes)
    let row = UnsafeMutablePointer<UInt8>.allocate(capacity: bytes)
    defer { row.deallocate() }
    for y in 0..<size.height where !resampler.isComplete {
      try read(1, to: row, stride: bytes, processing)
      let isDue = average.add(row)
      guard isDue || y == size.height - 1, average.take(into: resampler.slot) else { continue }
      resampler.receive(1)
    }
  }

  /// Decodes the next rows.
  func read(
    _ count: Int, to rows: UnsafeMutablePointer<UInt8>, stride: Int, _ processing: RowProcessing
  ) throws(ImagingError) {
    if let transform = processing.transform {
      let bytes = size.width * channels * 2
      let row = UnsafeMutablePointer<UInt8>.allocate(capacity: bytes)
      defer { row.deallocate() }
      for index in 0..<count {
        try call { codec_png_rows(codec, row, bytes, 1, $0) }
        transform.apply(row, to: rows + index * stride, count: size.width)
      }
    } else {
      try call { codec_png_rows(codec, rows, stride, Int32(count), $0) }
    }
    guard processing.premultiplies else { return }
    for index in 0..<count { codec_premultiply(rows + index * stride, size.width) }
  }

  /// What the decoded samples mean.
  var model: ColourModel { hasTransparency ? .rgba : info.colour_type == 0 ? .grey : .rgb }

  /// Decodes the whole picture and keeps nothing.
  ///
  /// - Throws: `damaged` when it is.
  func validate() throws(ImagingError) {
    try start()
    let row = UnsafeMutablePointer<UInt8>.allocate(capacity: size.width * 4)
    defer { row.deallocate() }
    for _ in 0..<size.height { try call { codec_png_rows(codec, row, 0, 1, $0) } }
    try finish()
  }

  /// Reads the chunks behind the pixels, after all rows.
  func finish() throws(ImagingError) { try call { codec_png_finish(codec, $0) } }

  /// Rows that are decoded together.
  static let band = 8

  private static func size(_ source: SourceFile) throws(ImagingError) -> PixelSize {
    let header = source.octets(0..<33)
    guard header.count == 33, header.has("IHDR", at: 12), let width = header.big(at: 16, count: 4),
      let height = header.big(at: 20, count: 4)
    else {
      throw header.has("CgBI", at: 12)
        ? ImagingError(
          .damaged,
          "This PNG was packed for an iPhone app, and other programs can't read it. "
            + "Drop the original.")
        : .damaged("PNG", "no IHDR chunk")
    }
    guard header[26] == 0, header[27] == 0 else {
      throw ImagingError(
        .damaged,
        "This PNG is compressed in a way that phones can't read. Export it again as PNG or JPEG.")
    }
    return PixelSize(width, height)
  }

  private func call(_ body: (UnsafeMutablePointer<CChar>) -> Int32) throws(ImagingError) {
    _ = try callCodec(or: .damaged("PNG")) { succeeded(body($0)) }
  }
}
