/// A chunk of a PNG (third edition, 5.3).
struct PNGChunk {
  let type: String
  /// Where it lies in the file, length and CRC included.
  let range: Range<Int>
  let content: Range<Int>
}

/// Walks the chunks of a PNG up to its end chunk, or to where the file ends.
struct PNGChunks: Sequence, IteratorProtocol {
  private let source: SourceFile
  private var position = 8

  init(_ source: SourceFile) {
    self.source = source
  }

  mutating func next() -> PNGChunk? {
    let head = source.bytes(position..<position + 8)
    guard head.count == 8 else { return nil }
    let content = position + 8..<position + 8 + Int(head.bigEndian32(at: 0))
    let range = position..<content.upperBound + 4
    guard range.upperBound <= source.size else { return nil }
    let type = String(decoding: head[4...], as: UTF8.self)
    position = type == "IEND" ? source.size : range.upperBound
    return PNGChunk(type: type, range: range, content: content)
  }
}
