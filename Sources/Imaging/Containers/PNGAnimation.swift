import MediaTypes

/// The animation that a PNG announces in front of its pixels (third edition, 4.9 and 11.3.6).
///
/// It is broken where a chunk is out of order or repeated, a number is left out, a frame is empty or reaches beyond the
/// picture, or there are fewer or more frames than announced: some browsers show such files, others nothing.
struct PNGAnimation {
  /// How many frames are announced.
  let announced: Int
  /// Whether it has these frames, and all of its chunks are in order, whatever the frames' pixels are.
  let isWhole: Bool
  /// The first frame, if it is not the PNG's own picture.
  private let firstFrame: Frame?
  private let announcement: [UInt8]

  /// Reads the chunks of an animation.
  ///
  /// - Returns: nil when none is announced in front of the pixels, as then nothing plays it.
  init?(_ source: SourceFile) {
    let found = Chunks(png: source).first {
      $0.id == "IDAT" || Self.isAnnouncement($0, in: source)
    }
    guard let found, found.id == "acTL" else { return nil }
    announcement = source.bytes(found.body)
    announced = Octets(bytes: announcement).big(at: 0, count: 4) ?? 0
    var first: Frame?
    var walk = Walk(source, announcement)
    do {
      while let frame = try walk.next() { if walk.found == 1 { first = frame } }
      isWhole = walk.found == announced
    } catch {
      isWhole = false
    }
    firstFrame = first
  }

  /// PNG's numbers have 31 bits (third edition, 7.1): with more, Chromium plays nothing, and Firefox shows nothing.
  private static func isAnnouncement(_ chunk: Chunk, in source: SourceFile) -> Bool {
    guard chunk.id == "acTL", chunk.body.count == 8, PNGChunk.hasValidCRC(chunk.range, in: source)
    else { return false }
    let numbers = source.octets(chunk.body)
    return [0, 4].allSatisfy { numbers.big(at: $0, count: 4).map { $0 >> 31 } == 0 }
  }

  /// Whether it moves.
  var isPlayed: Bool { isWhole && announced > 1 }

  /// The frame that stands for the PNG where nothing moves; nil if that is the PNG's own picture.
  ///
  /// It is the first one, with which browsers begin, if the PNG's own picture is no frame and it is as large.
  var stillFrame: Frame? {
    guard isWhole, let firstFrame, !firstFrame.isOwnPicture, firstFrame.coversPicture else {
      return nil
    }
    return firstFrame
  }

  /// The frames, in order.
  func frames(of source: SourceFile) -> Walk { Walk(source, announcement) }

  /// A PNG without its animation, in memory.
  ///
  /// A frame that stands for it takes the place of the PNG's own picture, so that other chunks stay in front of the
  /// pixels or behind them, and none is between them.
  static func still(of source: SourceFile, showing stillFrame: Frame?) -> SourceFile {
    var frame = stillFrame
    var bytes = source.bytes(0..<8)
    for chunk in Chunks(png: source) {
      switch chunk.id {
      case "acTL", "fcTL", "fdAT": continue
      case "IDAT" where stillFrame != nil:
        for data in frame?.data ?? [] { bytes += PNGChunk.bytes("IDAT", source.bytes(data)) }
        frame = nil
      default: bytes += source.bytes(chunk.range)
      }
    }
    return SourceFile(bytes: bytes)
  }

  static let damaged = ImagingError(
    .damaged, "The animation in this PNG is damaged. Export it again, or save one picture of it.")

  /// A frame as its fcTL chunk describes it, and where its data is.
  struct Frame {
    let size: PixelSize
    /// Whether its pixels are the PNG's own.
    let isOwnPicture: Bool
    /// Whether it is as large as the PNG.
    let coversPicture: Bool
    /// The fdAT chunks with its pixels.
    fileprivate(set) var chunks: [Range<Int>] = []

    /// Its coded pixels in these chunks, behind their numbers.
    fileprivate var data: [Range<Int>] { chunks.map { $0.dropFirst(12).dropLast(4) } }

    fileprivate init(
      _ control: Octets, within header: Octets, isOwnPicture: Bool
    ) throws(ImagingError) {
      func number(_ offset: Int) -> Int { control.big(at: offset, count: 4) ?? 0 }
      guard control.count == 26, header.count == 13, number(4) > 0, number(8) > 0,
        let width = header.big(at: 0, count: 4), number(12) + number(4) <= width,
        let height = header.big(at: 4, count: 4), number(16) + number(8) <= height,
        control.bytes[24] < 3, control.bytes[25] < 2
      else { throw PNGAnimation.damaged }
      size = PixelSize(number(4), number(8))
      coversPicture = size == PixelSize(width, height)
      self.isOwnPicture = isOwnPicture
      guard coversPicture || !isOwnPicture else { throw PNGAnimation.damaged }
    }

    /// The frame as a PNG of its own.
    func png(
      _ header: Octets, _ colours: [UInt8], _ source: SourceFile
    ) -> [UInt8] {
      let start = PNGChunk.bigEndian(size.width) + PNGChunk.bigEndian(size.height)
      return source.bytes(0..<8) + PNGChunk.bytes("IHDR", start + header.bytes[8...]) + colours
        + PNGChunk.bytes("IDAT", data.flatMap { source.bytes($0) })
        + PNGChunk.bytes("IEND", [])
    }
  }

  /// Goes through the frames in order.
  struct Walk {
    private let source: SourceFile
    private let announcement: [UInt8]
    private var chunks: Chunks<SourceFile>
    private(set) var header = Octets(bytes: [])
    /// The chunks with the colours that all frames share.
    private(set) var colours: [UInt8] = []
    /// How many frames were found.
    private(set) var found = 0
    private var number = 0
    private var isBehindPixels = false
    /// Whether the last chunk that stays in a clean copy was one of the current frame's.
    private var isInData = false
    private var frame: Frame?

    fileprivate init(_ source: SourceFile, _ announcement: [UInt8]) {
      (self.source, self.announcement, chunks) = (source, announcement, Chunks(png: source))
    }

    /// - Returns: nil when there are no more frames.
    /// - Throws: `damaged` when a chunk is not where and as it must be.
    mutating func next() throws(ImagingError) -> Frame? {
      while let chunk = chunks.next() {
        if let whole = try read(chunk) { return whole }
      }
      defer { frame = nil }
      return try counted(frame)
    }

    /// - Returns: The frame in front of the chunk, if that begins another one.
    private mutating func read(_ chunk: Chunk) throws(ImagingError) -> Frame? {
      switch chunk.id {
      case "IHDR": header = source.octets(chunk.body)
      case "PLTE", "tRNS":
        // No more than a palette and its alpha: every frame is decoded with a copy of them.
        if colours.count + chunk.range.count <= 12 + 768 + 12 + 256 {
          colours += source.bytes(chunk.range)
        }
      case "acTL":
        let isSame = !isBehindPixels && source.bytes(chunk.body) == announcement
        guard isSame, PNGChunk.hasValidCRC(chunk.range, in: source) else {
          throw PNGAnimation.damaged
        }
      case "IDAT":
        guard frame?.isOwnPicture ?? true else { throw PNGAnimation.damaged }
        isBehindPixels = true
      case "fcTL": return try begin(chunk)
      case "fdAT":
        try count(chunk)
        let isExpected = frame.map { !$0.isOwnPicture && ($0.chunks.isEmpty || isInData) }
        guard isExpected == true else { throw PNGAnimation.damaged }
        frame?.chunks.append(chunk.range)
        isInData = true
        return nil
      default: guard CleanCopy.keeps(chunk.id) else { return nil }
      }
      isInData = false
      return nil
    }

    private mutating func begin(_ chunk: Chunk) throws(ImagingError) -> Frame? {
      try count(chunk)
      isInData = false
      let last = frame
      // Only one may be in front of the pixels, whose frame they are.
      guard PNGChunk.hasValidCRC(chunk.range, in: source), last == nil || isBehindPixels else {
        throw PNGAnimation.damaged
      }
      frame = try Frame(
        source.octets(chunk.body), within: header, isOwnPicture: !isBehindPixels)
      return try counted(last)
    }

    private mutating func count(_ chunk: Chunk) throws(ImagingError) {
      guard source.octets(chunk.body.prefix(4)).big(at: 0, count: 4) == number else {
        throw PNGAnimation.damaged
      }
      number += 1
    }

    private mutating func counted(_ frame: Frame?) throws(ImagingError) -> Frame? {
      guard let frame else { return nil }
      let isCoded = frame.chunks.contains { $0.count > 16 }  // more than the chunk's own fields
      guard frame.isOwnPicture ? isBehindPixels : isCoded else { throw PNGAnimation.damaged }
      found += 1
      return frame
    }
  }
}
