/// The blocks of a GIF up to its trailer, or to where the file ends or is no GIF any more.
package struct GIFBlocks<Source: ByteSource>: Sequence, IteratorProtocol {
  /// Where the blocks begin: after the header and the global colour table.
  package let start: Int
  private let source: Source
  private var position: Int

  package init(_ source: Source) {
    let header = source.octets(0..<13)
    start = Swift.min(
      13 + GIFBlock.colourTableSize(header[12] == nil ? 0 : header[10]), source.size)
    self.source = source
    position = start
  }

  /// The next block.
  package mutating func next() -> GIFBlock? {
    guard let block = GIFBlock(source, at: position) else { return nil }
    position = block.kind == .trailer ? source.size : block.range.upperBound
    return block
  }
}

/// A block of a GIF (GIF89a 12 to 26) with its sub-blocks.
package struct GIFBlock {
  package enum Kind { case image, extensionBlock, comment, application, trailer }

  /// What it is.
  package let kind: Kind
  /// Its place in the file.
  package let range: Range<Int>
  /// Whether an application block is one of the two that say how often to play.
  package let isLooping: Bool

  /// The block at an offset; nil when it is incomplete or invalid.
  init?(_ source: some ByteSource, at start: Int) {
    let head = source.octets(start..<start + 14)
    var end: Int?
    switch head[0] {
    case 0x3B:
      kind = .trailer
      end = start + 1
    case 0x2C where head.count > 10:
      kind = .image
      end = source.subBlocks(at: start + 11 + Self.colourTableSize(head[9]))
    case 0x21 where head.count > 2:
      kind = head[1] == 0xFE ? .comment : head[1] == 0xFF ? .application : .extensionBlock
      end = source.subBlocks(at: start + 2)
    default: return nil
    }
    guard let end else { return nil }
    range = start..<end
    isLooping = head.has("NETSCAPE2.0", at: 3) || head.has("ANIMEXTS1.0", at: 3)
  }

  /// Whether it is an image without width or height.
  package func isEmpty(in source: some ByteSource) -> Bool {
    let head = source.octets(range.prefix(9))
    return head.little(at: 5, count: 2) == 0 || head.little(at: 7, count: 2) == 0
  }

  /// Bytes of the colour table that a byte of flags announces.
  package static func colourTableSize(_ flags: Int?) -> Int {
    flags.map { $0 & 0x80 != 0 ? 3 << ($0 & 7 + 1) : 0 } ?? 0
  }
}

extension ByteSource {
  /// Goes through the data sub-blocks at an offset (GIF89a 15).
  ///
  /// - Returns: Where they end; nil when the file ends before.
  @discardableResult
  package func subBlocks(at start: Int, _ body: (Range<Int>) -> Void = { _ in }) -> Int? {
    var position = start
    while let length = bytes(position..<position + 1).first {
      let data = position + 1..<position + 1 + Int(length)
      position = data.upperBound
      if length == 0 { return position }
      body(data)
    }
    return nil
  }
}
