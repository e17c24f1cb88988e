/// A named part of a container file.
package struct Chunk {
  /// Its four-character code.
  package let id: String
  /// All of it, with its head and, in a PNG, its CRC.
  package let range: Range<Int>
  /// Its content.
  package let body: Range<Int>
}

/// The chunks of a container in order: never beyond the range, and a limited number.
package struct Chunks<Source: ByteSource>: Sequence, IteratorProtocol {
  /// How a container writes the head of a chunk.
  enum Layout {
    /// RIFF (WAV, WebP): name, 32 bits little-endian, padded to an even length.
    case riff
    /// IFF (AIFF): name, 32 bits big-endian, padded to an even length.
    case iff
    /// Core Audio: name, 64 bits big-endian; -1 means to the end.
    case caf
    /// ISO base media (MP4): 32 bits that count the head too, name; 1: 64 bits follow; 0: to the end.
    case iso
    /// PNG: 32 bits big-endian, name; a CRC follows; `IEND` is the last one.
    case png
  }

  private let source: Source
  private let layout: Layout
  private let end: Int
  private var offset: Int
  private var left: Int

  init(_ source: Source, in range: Range<Int>, layout: Layout, most: Int = 4096) {
    self.source = source
    self.layout = layout
    offset = range.lowerBound
    end = Swift.min(range.upperBound, source.size)
    left = layout == .png ? .max : most
  }

  init(_ source: Source, from start: Int, layout: Layout) {
    self.init(source, in: start..<Swift.max(start, source.size), layout: layout)
  }

  /// The whole chunks of a PNG (third edition, 5.3).
  package init(png source: Source) { self.init(source, from: 8, layout: .png) }

  /// The chunks of a WebP (RFC 9649 section 2).
  package init(webP source: Source) { self.init(source, from: 12, layout: .riff) }

  /// The next chunk; one that is cut short ends with the range, except in a PNG, where it is left out.
  package mutating func next() -> Chunk? {
    guard left > 0, offset < end else { return nil }
    left -= 1
    let octets = source.octets(at: offset, count: Swift.min(16, end - offset))
    guard let head = head(of: octets), head.length <= end - offset else { return nil }
    let start = offset + head.length
    let stop = start + Swift.min(head.size ?? end - start, end - start)
    var following = stop
    switch layout {
    case .riff, .iff: following += (stop - start) & 1
    case .caf, .iso: break
    case .png:
      following += 4
      guard following <= end, head.size == stop - start else { return nil }
    }
    defer { offset = head.id == "IEND" && layout == .png ? end : following }
    return Chunk(id: head.id, range: offset..<following, body: start..<stop)
  }

  /// The name, the length of the head itself, and the size of what follows (nil: to the end).
  private func head(of octets: Octets) -> (id: String, length: Int, size: Int?)? {
    guard let id = octets.code(at: layout == .iso || layout == .png ? 4 : 0) else { return nil }
    switch layout {
    case .riff: return octets.little(at: 4, count: 4).map { (id, 8, $0) }
    case .iff: return octets.big(at: 4, count: 4).map { (id, 8, $0) }
    case .caf: return octets.count < 12 ? nil : (id, 12, octets.big(at: 4, count: 8))
    case .png: return octets.big(at: 0, count: 4).map { (id, 8, $0) }
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

/// A box of ISO base media and the boxes in it, found when asked for.
package struct Boxes<Source: ByteSource> {
  let source: Source
  /// Where its content is.
  package let range: Range<Int>

  /// The boxes of a file.
  package init(_ source: Source) { self.init(source: source, range: 0..<source.size) }

  init(source: Source, range: Range<Int>) { (self.source, self.range) = (source, range) }

  /// The first 32 boxes of a name.
  package func all(_ name: String) -> [Boxes] {
    Array(Chunks(source, in: range, layout: .iso)).filter { $0.id == name }.prefix(32)
      .map { Boxes(source: source, range: $0.body) }
  }

  /// The first box of a name.
  package subscript(name: String) -> Boxes? {
    Chunks(source, in: range, layout: .iso).first { $0.id == name }
      .map { Boxes(source: source, range: $0.body) }
  }

  /// The same without its first `count` bytes, which are fields.
  func dropping(_ count: Int) -> Boxes { Boxes(source: source, range: range.dropFirst(count)) }

  /// What a `mdia` box is about: `soun`, `vide`, `text` (ISO 14496-12 section 8.4.3).
  var handler: String? { self["hdlr"]?.octets(12).code(at: 8) }

  /// The first `count` bytes.
  package func octets(_ count: Int) -> Octets { source.octets(range.prefix(count)) }
}
