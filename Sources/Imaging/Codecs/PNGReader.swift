import CCodecs

/// A PNG that is being read as rows of grey, RGB or RGBA samples.
final class PNGReader {
  private let source: SourceFile
  private let codec: OpaquePointer
  private(set) var info: codec_png_info

  /// Reads the header and checks it.
  ///
  /// Without `checking` CRCs and Adler-32 are not computed, which saves time with a file that was checked before.
  init(_ source: SourceFile, limits: Limits, checking: Bool) throws(ImagingError) {
    self.source = source
    try limits.check(try Self.size(source))  // before libpng sees anything
    var info = codec_png_info()
    do {
      codec = try CodecMessage.of { message in
        source.withCodecSource {
          codec_png_open($0, limits.ancillaryBytes, checking ? 1 : 0, &info, message)
        }
      }
    } catch {
      throw error.damaged("PNG")
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
  /// Samples of a pixel as they come after `start`: 1, 3 or 4.
  var channels: Int { Int(info.channels) }
  /// Whether the file has 16 bits for each sample.
  var isSixteen: Bool { info.depth == 16 }

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

  /// What is done to the rows on their way to the resampler.
  struct Passage {
    /// Applied to 16-bit samples.
    var transform: ColourTransform?
    /// Whether colours are multiplied by alpha.
    var premultiplies = false
    /// Rows that are averaged into one.
    var averaged = 1
  }

  /// Decodes rows into the resampler until it has what it needs.
  func read(into resampler: PlaneResampler, _ passage: Passage) throws(ImagingError) {
    guard passage.averaged == 1 else { return try readAverages(into: resampler, passage) }
    var left = size.height
    while left > 0, !resampler.isComplete {
      let count = min(Self.band, left)
      try read(count, to: resampler.slot, stride: resampler.slotStride, passage)
      resampler.receive(count)
      left -= count
    }
  }

  /// Decodes the next row; a transform takes 16-bit samples, which `start` was told of.
  func readRow(
    to row: UnsafeMutablePointer<UInt8>, through transform: ColourTransform?
  ) throws(ImagingError) {
    try read(1, to: row, stride: 0, Passage(transform: transform))
  }

  private func readAverages(
    into resampler: PlaneResampler, _ passage: Passage
  ) throws(ImagingError) {
    let bytes = size.width * (passage.transform?.outputChannels ?? channels)
    let average = RowAverage(of: passage.averaged, bytes: bytes)
    let row = UnsafeMutablePointer<UInt8>.allocate(capacity: bytes)
    defer { row.deallocate() }
    for y in 0..<size.height where !resampler.isComplete {
      try read(1, to: row, stride: bytes, passage)
      let isDue = average.add(row)
      guard isDue || y == size.height - 1, average.take(into: resampler.slot) else { continue }
      resampler.receive(1)
    }
  }

  private func read(
    _ count: Int, to rows: UnsafeMutablePointer<UInt8>, stride: Int, _ passage: Passage
  ) throws(ImagingError) {
    if let transform = passage.transform {
      try readWide(count, to: rows, stride: stride, transform)
    } else {
      try call { codec_png_rows(codec, rows, stride, Int32(count), $0) }
    }
    guard passage.premultiplies else { return }
    for index in 0..<count { codec_premultiply(rows + index * stride, size.width) }
  }

  /// What the samples mean as they come.
  var model: ColourModel { hasTransparency ? .rgba : info.colour_type == 0 ? .grey : .rgb }

  /// Reads the picture to its end and keeps nothing, so that damage shows.
  func skim() throws(ImagingError) {
    try start()
    let row = UnsafeMutablePointer<UInt8>.allocate(capacity: size.width * 4)
    defer { row.deallocate() }
    for _ in 0..<size.height { try call { codec_png_rows(codec, row, 0, 1, $0) } }
    try call { codec_png_finish(codec, $0) }
  }

  private func readWide(
    _ count: Int, to slot: UnsafeMutablePointer<UInt8>, stride: Int, _ transform: ColourTransform
  ) throws(ImagingError) {
    let bytes = size.width * channels * 2
    let row = UnsafeMutablePointer<UInt8>.allocate(capacity: bytes)
    defer { row.deallocate() }
    for index in 0..<count {
      try call { codec_png_rows(codec, row, bytes, 1, $0) }
      transform.apply(row, to: slot + index * stride, count: size.width)
    }
  }

  /// Rows that are decoded together.
  static let band = 8

  private static func size(_ source: SourceFile) throws(ImagingError) -> PixelSize {
    let header = source.bytes(0..<33)
    guard header.count == 33, header[12..<16].elementsEqual("IHDR".utf8) else {
      throw header.count > 15 && header[12..<16].elementsEqual("CgBI".utf8)
        ? ImagingError(
          .damaged,
          "This PNG was packed for an iPhone app, and other programs can't read it. "
            + "Drop the original.")
        : ImagingError(
          .damaged, "This PNG is damaged. Export it again.", detail: "no IHDR chunk")
    }
    guard header[26] == 0, header[27] == 0 else {
      throw ImagingError(
        .damaged,
        "This PNG is compressed in a way that phones can't read. Export it again as PNG or JPEG.")
    }
    return PixelSize(Int(header.bigEndian32(at: 16)), Int(header.bigEndian32(at: 20)))
  }

  private func call(_ body: (UnsafeMutablePointer<CChar>) -> Int32) throws(ImagingError) {
    do {
      _ = try CodecMessage.of { succeeded(body($0)) }
    } catch {
      throw error.damaged("PNG")
    }
  }
}
