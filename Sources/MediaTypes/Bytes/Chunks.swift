/// A named stretch of a container file.
struct Chunk {
  let id: String
  let body: Range<Int>
}

/// How a container writes the head of a chunk.
enum ChunkLayout {
  /// RIFF (WAV, WebP): name, 32 bits little-endian, padded to an even length.
  case riff
  /// IFF (AIFF): name, 32 bits big-endian, padded to an even length.
  case iff
  /// Core Audio: name, 64 bits big-endian; -1 means to the end.
  case caf
  /// ISO base media (MP4): 32 bits that count the head too, name; 1: 64 bits follow; 0: to the end.
  case iso
}

/// Walks the chunks of a container: always forward, never out of its range, never for ever.
struct Chunks<Source: ByteSource>: Sequence, IteratorProtocol {
  private let source: Source
  private let layout: ChunkLayout
  private let end: Int
  private var offset: Int
  private var left = 4096

  init(_ source: Source, in range: Range<Int>, layout: ChunkLayout) {
    self.source = source
    self.layout = layout
    offset = range.lowerBound
    end = Swift.min(range.upperBound, source.size)
  }

  mutating func next() -> Chunk? {
    guard left > 0, offset < end else { return nil }
    left -= 1
    let octets = source.octets(at: offset, count: Swift.min(16, end - offset))
    guard let head = head(of: octets), head.length <= end - offset else { return nil }
    let start = offset + head.length
    let stop = start + Swift.min(head.size ?? end - start, end - start)
    let isPadded = layout == .riff || layout == .iff
    offset = stop + (isPadded ? (stop - start) & 1 : 0)
    return Chunk(id: head.id, body: start..<stop)
  }

  /// The name, the length of the head itself, and the size of what follows (nil: to the end).
  private func head(of octets: Octets) -> (id: String, length: Int, size: Int?)? {
    let isISO = layout == .iso
    guard let id = octets.code(at: isISO ? 4 : 0) else { return nil }
    switch layout {
    case .riff: return octets.little(at: 4, count: 4).map { (id, 8, $0) }
    case .iff: return octets.big(at: 4, count: 4).map { (id, 8, $0) }
    case .caf: return octets.count < 12 ? nil : (id, 12, octets.big(at: 4, count: 8))
    case .iso:
      switch octets.big(at: 0, count: 4) {
      case 0: return (id, 8, nil)
      case 1: return octets.big(at: 8, count: 8).flatMap { $0 < 16 ? nil : (id, 16, $0 - 16) }
      case .some(let size) where size >= 8: return (id, 8, size - 8)
      default: return nil
      }
    }
  }
}
