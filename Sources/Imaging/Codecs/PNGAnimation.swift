import MediaTypes

/// The animation in a PNG (third edition, 4.9 and 11.3.6), which is sent unchanged or not at all.
struct PNGAnimation {
  private let source: SourceFile
  private let limits: Limits

  init(_ source: SourceFile, limits: Limits) {
    (self.source, self.limits) = (source, limits)
  }

  /// Decodes the frames and keeps nothing.
  ///
  /// Of very many only the first are decoded, as many as have the pixels of one large picture.
  /// - Throws: `damaged` when one of them is.
  func validate() throws(ImagingError) {
    var frame: Frame?
    var (next, announced, found, pixels) = (0, 0, 0, 0)
    var (header, colours) = (Octets(bytes: []), [UInt8]())
    var isAfterPixels = false
    for chunk in Chunks(png: source) {
      switch chunk.id {
      case "IHDR": header = source.octets(chunk.body)
      case "PLTE", "tRNS": colours += source.bytes(chunk.range)
      case "acTL": announced = Metadata.frameCount(source, chunk) ?? 0
      case "IDAT": isAfterPixels = true
      case "fcTL", "fdAT":
        let head = source.octets(chunk.body.prefix(26))
        guard head.big(at: 0, count: 4) == next else { throw Self.damaged }
        next += 1
        guard chunk.id == "fcTL" else {
          guard frame != nil, isAfterPixels else { throw Self.damaged }
          frame?.data.append(chunk.body.dropFirst(4))
          continue
        }
        try validate(frame, header, colours, &pixels)
        frame = try Frame(head, within: header, isFirstPicture: !isAfterPixels)
        found += 1
      default: continue
      }
    }
    try validate(frame, header, colours, &pixels)
    guard found == announced, found > 0 else { throw Self.damaged }
  }

  private func validate(
    _ frame: Frame?, _ header: Octets, _ colours: [UInt8], _ pixels: inout Int
  ) throws(ImagingError) {
    // The first picture's pixels are in the IDAT chunks, which were decoded already.
    guard let frame, !frame.isFirstPicture else { return }
    pixels += frame.size.pixels
    guard pixels <= limits.megapixels * 1_000_000 else { return }
    let bytes = frame.data.reduce(0) { $0 + $1.count }
    try limits.check(bytes, against: limits.bitmapBytes, for: "This animation")
    do {
      let picture = SourceFile(bytes: frame.png(header, colours, source))
      try PNGReader(picture, limits: limits, checking: true).validate()
    } catch {
      throw error.code == .damaged ? Self.damaged : error
    }
  }

  private static let damaged = ImagingError(
    .damaged, "The animation in this PNG is damaged. Export it again, or save one picture of it.")

  /// A frame as its fcTL chunk describes it, and where its data is.
  private struct Frame {
    let size: PixelSize
    let isFirstPicture: Bool
    var data: [Range<Int>] = []

    init(_ control: Octets, within header: Octets, isFirstPicture: Bool) throws(ImagingError) {
      func number(_ offset: Int) -> Int { control.big(at: offset, count: 4) ?? 0 }
      guard control.count == 26, header.count == 13, number(4) > 0, number(8) > 0,
        let width = header.big(at: 0, count: 4), number(12) + number(4) <= width,
        let height = header.big(at: 4, count: 4), number(16) + number(8) <= height,
        control.bytes[24] < 3, control.bytes[25] < 2
      else { throw PNGAnimation.damaged }
      size = PixelSize(number(4), number(8))
      self.isFirstPicture = isFirstPicture
    }

    /// The frame as a PNG of its own.
    func png(_ header: Octets, _ colours: [UInt8], _ source: SourceFile) -> [UInt8] {
      let start = PNGChunk.bigEndian(size.width) + PNGChunk.bigEndian(size.height)
      return source.bytes(0..<8) + PNGChunk.bytes("IHDR", start + header.bytes[8...]) + colours
        + PNGChunk.bytes("IDAT", data.flatMap { source.bytes($0) }) + PNGChunk.bytes("IEND", [])
    }
  }
}
