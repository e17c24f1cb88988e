/// Where the packets of an AAC sound are in a file, and what its decoder needs first.
package struct PacketTable: Sendable, Hashable {
  /// The AudioSpecificConfig (ISO 14496-3 section 1.6.2.1); empty for ADTS, whose packets say it.
  package let configuration: [UInt8]
  /// In the order of playing, all within the file.
  package let packets: [Range<Int>]

  /// The most packets that are read: more than twenty minutes at 48 kHz.
  fileprivate static let most = 1 << 16
  /// The most bytes of a packet.
  private static let largest = 1 << 16
}

extension Sound {
  /// Where the packets of an AAC sound are; nil for other codecs, and for MP4 in fragments.
  package func packets(in source: some ByteSource) -> PacketTable? {
    guard codec == .aac else { return nil }
    return switch type.value {
    case "audio/aac": PacketTable(adts: source)
    case "audio/x-caf": PacketTable(caf: source)
    default: PacketTable(mp4: source)
    }
  }
}

extension PacketTable {
  private init?(_ configuration: [UInt8], _ packets: [Range<Int>]) {
    guard !packets.isEmpty else { return nil }
    self.init(configuration: configuration, packets: packets)
  }

  /// Reads the headers of the frames.
  init?(adts source: some ByteSource) {
    self.init([], ADTSFrame.frames(of: source).prefix(Self.most).map { $0.range })
  }

  /// Reads the tables of the first sound track: sizes, chunks, and packets in a chunk
  /// (ISO 14496-12 sections 8.7.3 to 8.7.5).
  init?(mp4 source: some ByteSource) {
    let tracks = Boxes(source: source, range: 0..<source.size)["moov"]?.all("trak") ?? []
    guard let media = tracks.lazy.compactMap({ $0["mdia"] }).first(where: { $0.handler == "soun" }),
      let tables = media["minf"]?["stbl"],
      let stream = tables["stsd"].flatMap({ ElementaryStream(in: $0) }),
      let sizes = tables["stsz"]?.sizes,
      let chunks = tables["stco"]?.numbers(of: 4) ?? tables["co64"]?.numbers(of: 8),
      let runs = tables["stsc"]?.numbers(of: 4, each: 3)
    else { return nil }
    var packets: [Range<Int>] = []
    var run = 0
    for (index, chunk) in chunks.enumerated() {
      while 3 * run + 3 < runs.count, runs[3 * run + 3] <= index + 1 { run += 1 }
      guard 3 * run + 1 < runs.count else { break }
      var offset = chunk
      for size in sizes.dropFirst(packets.count).prefix(runs[3 * run + 1]) {
        guard size <= Self.largest, offset <= source.size - size else { break }
        packets.append(offset..<offset + size)
        offset += size
      }
    }
    self.init(stream.configuration, packets)
  }

  /// Reads a Core Audio file: `kuki` is an `esds` box without its version, `pakt` has the sizes of
  /// the packets, seven bits to a byte, and `data` the packets one after the other.
  init?(caf source: some ByteSource) {
    var configuration: [UInt8]?
    var table: Range<Int>?
    var data: Range<Int>?
    for chunk in Chunks(source, from: 8, layout: .caf) {
      switch chunk.id {
      case "kuki":
        let octets = source.octets(chunk.body.prefix(128))
        configuration = ElementaryStream(octets, at: octets[0] == 3 ? 0 : 4)?.configuration
      case "pakt": table = chunk.body.dropFirst(24)
      case "data": data = chunk.body.dropFirst(4)
      default: continue
      }
    }
    guard let configuration, let table, let data else { return nil }
    let bytes = source.bytes(table.prefix(3 * Self.most))
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
    self.init(configuration, packets)
  }
}

extension Boxes {
  /// The numbers of a table, which begins with their count; at most as many as packets are read.
  fileprivate func numbers(of width: Int, each columns: Int = 1, behind head: Int = 4) -> [Int] {
    let row = width * columns
    let octets = octets(head + 4 + PacketTable.most * row)
    let count = min(octets.big(at: head, count: 4) ?? 0, (octets.count - head - 4) / row)
    return (0..<max(0, count) * columns).compactMap {
      octets.big(at: head + 4 + $0 * width, count: width)
    }
  }

  /// The sizes in a `stsz` box, which has one number for all, or one for each.
  fileprivate var sizes: [Int] {
    let octets = octets(12)
    guard let size = octets.big(at: 4, count: 4), let count = octets.big(at: 8, count: 4) else {
      return []
    }
    return size > 0
      ? Array(repeating: size, count: min(count, PacketTable.most)) : numbers(of: 4, behind: 8)
  }
}
