import MediaTypes

/// The first picture of a GIF, or the second one, as indexes into its colours on the GIF's canvas (GIF89a 18 to 23).
///
/// Decoded here, in a memory-safe language, and not by a C library: the format is small.
struct GIFPicture {
  /// The canvas.
  let size: PixelSize
  /// Whether any of the canvas is transparent.
  let isTransparent: Bool
  /// Whether the coded data has every pixel.
  let isWhole: Bool
  private let left: Int
  private let top: Int
  private let width: Int
  /// Where each row is among the coded ones.
  private let lines: [Int]
  private let indexes: [UInt8]
  /// 256 colours; an index without a colour is transparent.
  private let colours: [SIMD4<UInt8>]

  /// Decodes a picture, and reads of the file only as much as that needs.
  ///
  /// With `isSecond` it is the second one that is not empty, which decides whether browsers play the GIF.
  init(
    _ source: SourceFile, limits: Limits, isSecond: Bool = false
  ) throws(ImagingError) {
    size = try Self.canvas(of: source)
    try limits.check(size)
    var clear: Int?
    var image: GIFBlock?
    var count = 0
    for block in GIFBlocks(source) {
      let head = source.octets(block.range.prefix(8))
      if head.bytes.starts(with: [0x21, 0xF9, 4]), let flags = head[3], head.count == 8 {
        clear = flags & 1 == 1 ? head[6] : nil
      } else if block.kind == .image {
        if isSecond, !block.isEmpty(in: source) { count += 1 }
        guard isSecond, count < 2 else {
          image = block
          break
        }
        clear = nil
      }
    }
    guard let image else {
      throw ImagingError(
        .damaged, "This GIF is damaged: it has no whole picture in it. Export it again.")
    }
    let head = source.octets(image.range.prefix(10))
    func number(_ offset: Int) -> Int { head.little(at: offset, count: 2) ?? 0 }
    (left, top, width) = (number(1), number(3), number(5))
    let frame = PixelSize(width, number(7))
    try limits.check(frame)
    try limits.check(frame.pixels, against: limits.bitmapBytes, for: "This GIF")
    colours = try Self.colours(of: source, image, clear: clear)
    let start = image.range.lowerBound + 10 + GIFBlock.colourTableSize(head[9])
    var data: [UInt8] = []
    source.subBlocks(at: start + 1) { data += source.bytes($0) }
    indexes = LZWDecoder.decoded(
      data, codeSize: source.bytes(start..<start + 1).first ?? 0, count: frame.pixels)
    guard !indexes.isEmpty else {
      throw ImagingError(
        .damaged, "This GIF is damaged: nothing of its first picture can be read. Export it again.")
    }
    isWhole = indexes.count == frame.pixels
    lines = Self.lines(of: frame.height, areInterlaced: (head[9] ?? 0) & 0x40 != 0)
    isTransparent =
      clear != nil || left > 0 || top > 0 || left + width < size.width
      || top + frame.height < size.height
  }

  /// Its rows, as RGBA when it is transparent, else as RGB.
  var rows: RowSource {
    var y = 0
    let channels = isTransparent ? 4 : 3
    return RowSource(size: size, channels: channels) { row in
      for x in 0..<size.width {
        let colour = colour(x, y)
        for c in 0..<channels { row[x * channels + c] = colour[c] }
      }
      y += 1
    }
  }

  private func colour(_ x: Int, _ y: Int) -> SIMD4<UInt8> {
    guard x >= left, x < left + width, y >= top, y < top + lines.count else { return SIMD4() }
    let place = lines[y - top] * width + x - left
    return place < indexes.count ? colours[Int(indexes[place])] : SIMD4()
  }

  /// The size in the header.
  static func canvas(of source: SourceFile) throws(ImagingError) -> PixelSize {
    let head = source.octets(6..<10)
    guard let width = head.little(at: 0, count: 2), let height = head.little(at: 2, count: 2)
    else { throw .damaged("GIF", "no header") }
    return PixelSize(width, height)
  }

  /// The picture's own colour table, or the file's.
  private static func colours(
    of source: SourceFile, _ image: GIFBlock, clear: Int?
  ) throws(ImagingError) -> [SIMD4<UInt8>] {
    let own = GIFBlock.colourTableSize(source.octets(image.range.prefix(10))[9])
    let start = own > 0 ? image.range.lowerBound + 10 : 13
    let count = own > 0 ? own : GIFBlock.colourTableSize(source.octets(10..<11)[0])
    let table = source.bytes(start..<start + count)
    guard count > 0, table.count == count else { throw .damaged("GIF", "no colour table") }
    return (0..<256).map { index in
      guard index * 3 + 2 < count, index != clear else { return SIMD4() }
      return SIMD4(table[index * 3], table[index * 3 + 1], table[index * 3 + 2], 255)
    }
  }

  /// Where the rows are (GIF89a appendix E).
  private static func lines(of height: Int, areInterlaced: Bool) -> [Int] {
    guard areInterlaced else { return Array(0..<height) }
    let order = [(0, 8), (4, 8), (2, 4), (1, 2)].flatMap { start, step in
      Swift.stride(from: start, to: height, by: step)
    }
    var lines = order
    for (coded, seen) in order.enumerated() { lines[seen] = coded }
    return lines
  }
}
