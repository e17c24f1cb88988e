/// Walks the blocks of a GIF up to its trailer, or to where it breaks off.
struct GIFBlocks: Sequence, IteratorProtocol {
  /// Where the blocks begin: behind the header and the global colour table.
  let start: Int
  private let source: SourceFile
  private var position: Int

  init(_ source: SourceFile) {
    let header = source.bytes(0..<13)
    let flags = header.count == 13 ? header[10] : 0
    let table = flags & 0x80 != 0 ? 3 << (Int(flags & 7) + 1) : 0
    start = Swift.min(13 + table, source.size)
    self.source = source
    position = start
  }

  mutating func next() -> GIFBlock? {
    guard let block = GIFBlock(source, at: position) else { return nil }
    position = block.kind == .trailer ? source.size : block.range.upperBound
    return block
  }
}

/// A block of a GIF (GIF89a 12 to 26) with its sub-blocks.
struct GIFBlock {
  enum Kind { case image, extensionBlock, comment, application, trailer }

  let kind: Kind
  let range: Range<Int>
  /// Whether an application block is one of the two that say how often to play.
  let isLooping: Bool

  /// Nil where the file breaks off or makes no sense.
  init?(_ source: SourceFile, at start: Int) {
    let head = source.bytes(start..<start + 14)
    guard let introducer = head.first else { return nil }
    var position = start
    switch introducer {
    case 0x3B:
      kind = .trailer
      range = start..<start + 1
      isLooping = false
      return
    case 0x2C:
      guard head.count > 10 else { return nil }
      kind = .image
      isLooping = false
      position += 11 + (head[9] & 0x80 != 0 ? 3 << (Int(head[9] & 7) + 1) : 0)
    case 0x21:
      guard head.count > 2 else { return nil }
      kind = head[1] == 0xFE ? .comment : head[1] == 0xFF ? .application : .extensionBlock
      let name = head.dropFirst(3).prefix(11)
      isLooping = name.elementsEqual("NETSCAPE2.0".utf8) || name.elementsEqual("ANIMEXTS1.0".utf8)
      position += 2
    default: return nil
    }
    while let length = source.bytes(position..<position + 1).first {
      position += 1 + Int(length)
      if length == 0 {
        guard position <= source.size else { return nil }
        range = start..<position
        return
      }
    }
    return nil
  }
}
