/// The first picture of a GIF, as indexes into its colours on the GIF's canvas (GIF89a 18 to 23).
///
/// Written here, in a language without stray pointers, rather than taken from a C library: the format is small.
struct GIFPicture {
  /// The canvas.
  let size: PixelSize
  /// Whether any of the canvas can be seen through.
  let isTransparent: Bool
  /// Whether the coded data brought every pixel.
  let isWhole: Bool
  private let left: Int
  private let top: Int
  private let width: Int
  /// Where each row is among the coded ones.
  private let lines: [Int]
  private let indexes: [UInt8]
  /// 256 colours; an index without a colour is clear.
  private let colours: [SIMD4<UInt8>]

  /// Reads the first picture, and of the file only as much as that takes.
  init(_ source: SourceFile, limits: Limits) throws(ImagingError) {
    size = try Self.canvas(of: source)
    try limits.check(size)
    var clear: Int?
    var image: GIFBlock?
    for block in GIFBlocks(source) {
      let head = source.bytes(block.range.prefix(8))
      if head.starts(with: [0x21, 0xF9, 4]), head.count == 8 {
        clear = head[3] & 1 == 1 ? Int(head[6]) : nil
      } else if block.kind == .image {
        image = block
        break
      }
    }
    guard let image else {
      throw ImagingError(
        .damaged, "This GIF is damaged: it has no whole picture in it. Export it again.")
    }
    let head = source.bytes(image.range.prefix(10))
    func pair(_ at: Int) -> Int { Int(head[at]) | Int(head[at + 1]) << 8 }
    (left, top, width) = (pair(1), pair(3), pair(5))
    let frame = PixelSize(width, pair(7))
    try limits.check(frame)
    try limits.check(frame.pixels, against: limits.bitmapBytes, for: "This GIF")
    colours = try Self.colours(of: source, image, clear: clear)
    let data = image.range.lowerBound + 10 + Self.tableBytes(head[9])
    indexes = GIFCode.decoded(
      source.subBlocks(at: data + 1), codeSize: source.bytes(data..<data + 1).first ?? 0,
      count: frame.pixels)
    guard !indexes.isEmpty else {
      throw ImagingError(
        .damaged, "This GIF is damaged: nothing of its first picture can be read. Export it again.")
    }
    isWhole = indexes.count == frame.pixels
    lines = Self.lines(of: frame.height, areInterlaced: head[9] & 0x40 != 0)
    isTransparent =
      clear != nil || left > 0 || top > 0 || left + width < size.width
      || top + frame.height < size.height
  }

  /// Its rows, as RGBA where it can be seen through, else as RGB.
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
    let head = source.bytes(6..<10)
    guard head.count == 4 else {
      throw ImagingError(.damaged, "This GIF is damaged. Export it again.", detail: "no header")
    }
    return PixelSize(Int(head[0]) | Int(head[1]) << 8, Int(head[2]) | Int(head[3]) << 8)
  }

  /// The picture's own colour table, or the file's.
  private static func colours(
    of source: SourceFile, _ image: GIFBlock, clear: Int?
  ) throws(ImagingError) -> [SIMD4<UInt8>] {
    let own = source.bytes(image.range.prefix(10))[9]
    let shared = source.bytes(10..<11).first ?? 0
    let start = own & 0x80 != 0 ? image.range.lowerBound + 10 : 13
    let count = tableBytes(own & 0x80 != 0 ? own : shared)
    let table = source.bytes(start..<start + count)
    guard count > 0, table.count == count else {
      throw ImagingError(
        .damaged, "This GIF is damaged. Export it again.", detail: "no colour table")
    }
    return (0..<256).map { index in
      guard index * 3 + 2 < count, index != clear else { return SIMD4() }
      return SIMD4(table[index * 3], table[index * 3 + 1], table[index * 3 + 2], 255)
    }
  }

  /// Bytes of the colour table that a flags byte tells of.
  private static func tableBytes(_ flags: UInt8) -> Int {
    flags & 0x80 != 0 ? 3 << (Int(flags & 7) + 1) : 0
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

extension SourceFile {
  /// What the data sub-blocks from an offset on hold together (GIF89a 15).
  fileprivate func subBlocks(at start: Int) -> [UInt8] {
    var result: [UInt8] = []
    var position = start
    while let length = bytes(position..<position + 1).first, length > 0 {
      result += bytes(position + 1..<position + 1 + Int(length))
      position += 1 + Int(length)
    }
    return result
  }
}
