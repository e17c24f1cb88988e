/// A box and the boxes in it, found when asked for.
struct Boxes<Source: ByteSource> {
  private let source: Source
  let range: Range<Int>

  init(_ source: Source, in range: Range<Int>) {
    self.source = source
    self.range = range
  }

  func all(_ name: String) -> [Boxes] {
    Array(Chunks(source, in: range, layout: .iso)).filter { $0.id == name }.prefix(32)
      .map { Boxes(source, in: $0.body) }
  }

  subscript(name: String) -> Boxes? {
    Chunks(source, in: range, layout: .iso).first { $0.id == name }
      .map { Boxes(source, in: $0.body) }
  }

  /// The same behind so many bytes of fields.
  func dropping(_ count: Int) -> Boxes {
    Boxes(source, in: min(range.lowerBound + count, range.upperBound)..<range.upperBound)
  }

  /// What a `mdia` box is about: `soun`, `vide`, `text` (ISO 14496-12 section 8.4.3).
  var handler: String? { self["hdlr"]?.octets(12).code(at: 8) }

  func octets(_ count: Int) -> Octets {
    source.octets(at: range.lowerBound, count: min(count, range.count))
  }
}
