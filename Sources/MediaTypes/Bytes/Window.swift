/// A stretch of a source that moves along with a walk over it, so that the walk costs few reads.
struct Window<Source: ByteSource> {
  private let source: Source
  private var start = 0
  private var octets = Octets(bytes: [])
  private static var length: Int { 1 << 16 }

  init(_ source: Source) { self.source = source }

  /// The bytes at an offset of the source; fewer at its end.
  mutating func octets(at offset: Int, count: Int) -> (octets: Octets, offset: Int) {
    if offset < start || offset + count > start + octets.count {
      start = offset
      octets = source.octets(at: offset, count: Self.length)
    }
    return (octets, offset - start)
  }
}
