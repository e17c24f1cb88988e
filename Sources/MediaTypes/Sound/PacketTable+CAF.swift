extension PacketTable {
  /// Reads a Core Audio file: `kuki` holds what an `esds` box does, without its version, `pakt` the
  /// sizes of the packets, seven bits to a byte, and `data` the packets one behind the other.
  init?(caf source: some ByteSource) {
    var configuration: [UInt8]?
    var table: Range<Int>?
    var data: Range<Int>?
    for chunk in Chunks(source, in: 8..<max(8, source.size), layout: .caf) {
      switch chunk.id {
      case "kuki":
        let octets = source.octets(at: chunk.body.lowerBound, count: min(128, chunk.body.count))
        configuration = ElementaryStream(octets, at: octets[0] == 3 ? 0 : 4)?.configuration
      case "pakt": table = chunk.body.dropFirst(24)
      case "data": data = chunk.body.dropFirst(4)
      default: continue
      }
    }
    guard let configuration, let table, let data else { return nil }
    let bytes = source.read(at: table.lowerBound, count: min(table.count, 3 * Self.most))
    var packets: [Range<Int>] = []
    var (size, offset) = (0, data.lowerBound)
    for byte in bytes {
      size = size << 7 | Int(byte & 0x7F)
      if byte & 0x80 != 0, size < Self.largest { continue }
      guard size <= Self.largest, size <= data.upperBound - offset, packets.count < Self.most
      else { break }
      packets.append(offset..<offset + size)
      (size, offset) = (0, offset + size)
    }
    guard !packets.isEmpty else { return nil }
    self.init(configuration: configuration, packets: packets)
  }
}
