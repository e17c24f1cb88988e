/// The packets of a Core Audio file whose sizes differ: `pakt` has the sizes, seven bits to a byte, and
/// `data` the packets one after the other.
struct CAFPackets<Source: ByteSource>: Sequence, IteratorProtocol {
  private var window: ByteWindow<Source>
  private var table: Range<Int>
  private var data: Range<Int>

  /// The most bytes of a packet.
  private static var largest: Int { 1 << 24 }

  init(_ source: Source, _ table: Range<Int>, data: Range<Int>) {
    (window, self.table, self.data) = (ByteWindow(source), table, data)
  }

  /// The next packet that is whole.
  mutating func next() -> Range<Int>? {
    var size = 0
    while !table.isEmpty {
      let place = window.place(of: table.lowerBound, count: 1)
      guard let byte = window.octets[place] else { return nil }
      table = table.dropFirst(1)
      size = size << 7 | byte & 0x7F
      guard size <= Self.largest else { return nil }
      if byte & 0x80 == 0 { break }
    }
    guard size > 0, size <= data.count else { return nil }
    defer { data = data.dropFirst(size) }
    return data.prefix(size)
  }

  /// How many packets are whole.
  func count() -> Int { reduce(0) { count, _ in count + 1 } }
}
