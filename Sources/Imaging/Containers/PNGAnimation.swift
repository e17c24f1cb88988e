/// The animation in a PNG (third edition, 4.9 and 11.3.6), which is sent as it is or not at all.
struct PNGAnimation {
  private let source: SourceFile
  private let limits: Limits

  init(_ source: SourceFile, limits: Limits) {
    self.source = source
    self.limits = limits
  }

  /// How many frames an acTL chunk tells of; nil when it is too short.
  static func frameCount(_ source: SourceFile, _ chunk: PNGChunk) -> Int? {
    guard chunk.content.count == 8 else { return nil }
    return Int(source.bytes(chunk.content).bigEndian32(at: 0))
  }

  /// Reads the frames and keeps nothing, so that damage shows.
  ///
  /// Of very many only the first are read, as many as have the pixels of one large picture.
  func check() throws(ImagingError) {
    var frame: Frame?
    var next: UInt32 = 0
    var (announced, found, pixels) = (0, 0, 0)
    var (header, colours): ([UInt8], [UInt8]) = ([], [])
    var isBehindPixels = false
    for chunk in PNGChunks(source) {
      switch chunk.type {
      case "IHDR": header = source.bytes(chunk.content)
      case "PLTE", "tRNS": colours += source.bytes(chunk.range)
      case "acTL": announced = Self.frameCount(source, chunk) ?? 0
      case "IDAT": isBehindPixels = true
      case "fcTL", "fdAT":
        let head = source.bytes(chunk.content.prefix(26))
        guard head.count >= 4, head.bigEndian32(at: 0) == next else { throw Self.damaged }
        next += 1
        guard chunk.type == "fcTL" else {
          guard frame != nil, isBehindPixels else { throw Self.damaged }
          frame?.data.append(chunk.content.dropFirst(4))
          continue
        }
        try check(frame, header, colours, &pixels)
        frame = try Frame(head, within: header, isFirstPicture: !isBehindPixels)
        found += 1
      default: continue
      }
    }
    try check(frame, header, colours, &pixels)
    guard found == announced, found > 0 else { throw Self.damaged }
  }

  private func check(
    _ frame: Frame?, _ header: [UInt8], _ colours: [UInt8], _ pixels: inout Int
  ) throws(ImagingError) {
    // The first picture's pixels are in the IDAT chunks, which were read already.
    guard let frame, !frame.isFirstPicture else { return }
    pixels += frame.size.pixels
    guard pixels <= limits.megapixels * 1_000_000 else { return }
    let bytes = frame.data.reduce(0) { $0 + $1.count }
    try limits.check(bytes, against: limits.bitmapBytes, for: "This animation")
    do {
      let picture = SourceFile(bytes: frame.png(header, colours, source))
      try PNGReader(picture, limits: limits, checking: true).skim()
    } catch {
      throw error.code == .damaged ? Self.damaged : error
    }
  }

  private static let damaged = ImagingError(
    .damaged, "The animation in this PNG is damaged. Export it again, or save one picture of it.")

  /// A frame as its fcTL chunk describes it, with where its data lies.
  private struct Frame {
    let size: PixelSize
    let isFirstPicture: Bool
    var data: [Range<Int>] = []

    init(
      _ control: [UInt8], within header: [UInt8], isFirstPicture: Bool
    ) throws(ImagingError) {
      guard control.count == 26, header.count == 13 else { throw PNGAnimation.damaged }
      func number(_ offset: Int) -> Int { Int(control.bigEndian32(at: offset)) }
      size = PixelSize(number(4), number(8))
      self.isFirstPicture = isFirstPicture
      guard size.width > 0, size.height > 0,
        number(12) + size.width <= Int(header.bigEndian32(at: 0)),
        number(16) + size.height <= Int(header.bigEndian32(at: 4)),
        control[24] < 3, control[25] < 2
      else { throw PNGAnimation.damaged }
    }

    /// The frame as a PNG of its own.
    func png(_ header: [UInt8], _ colours: [UInt8], _ source: SourceFile) -> [UInt8] {
      let start = Self.bigEndian(size.width) + Self.bigEndian(size.height) + header[8...]
      return source.bytes(0..<8) + Self.chunk("IHDR", Array(start)) + colours
        + Self.chunk("IDAT", data.flatMap { source.bytes($0) }) + Self.chunk("IEND", [])
    }

    private static func chunk(_ type: String, _ content: [UInt8]) -> [UInt8] {
      let body = Array(type.utf8) + content
      return bigEndian(content.count) + body + bigEndian(Int(CRC32.of(body)))
    }

    private static func bigEndian(_ value: Int) -> [UInt8] {
      withUnsafeBytes(of: UInt32(truncatingIfNeeded: value).bigEndian, Array.init)
    }
  }
}
