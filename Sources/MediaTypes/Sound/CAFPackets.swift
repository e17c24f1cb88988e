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

/// The counts in front of the table of packets.
struct CAFCounts {
  private let frames: Int
  private let priming: Int
  private let remainder: Int

  init?(_ octets: Octets) {
    guard let frames = octets.big(at: 8, count: 8), let priming = octets.big(at: 16, count: 4),
      let remainder = octets.big(at: 20, count: 4), frames < 1 << 61
    else { return nil }
    (self.frames, self.priming, self.remainder) = (frames, priming, remainder)
  }

  /// How many of the frames in the packets are played; nil when the counts do not fit them.
  func valid(of counted: Int) -> Int? {
    frames + priming + remainder == counted ? frames : nil
  }
}
