/// Where the packets of AAC lie in a file, and what a decoder must know first.
package struct PacketTable: Sendable, Hashable {
  /// The AudioSpecificConfig (ISO 14496-3 section 1.6.2.1); empty for ADTS, whose packets say it.
  package let configuration: [UInt8]
  /// In the order they are played, all within the file.
  package let packets: [Range<Int>]

  /// As many are read, which is more than twenty minutes at 48 kHz.
  static let most = 1 << 16
  /// No packet of AAC has more bytes.
  static let largest = 1 << 16
}

extension Sound {
  /// Where the packets of an AAC sound lie; nil for other codecs, and for MP4 in fragments.
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
  /// Follows the heads of the frames.
  init?(adts source: some ByteSource) {
    var window = Window(source)
    var packets: [Range<Int>] = []
    var offset = 0
    while packets.count < Self.most {
      let (octets, place) = window.octets(at: offset, count: ADTSFrame.headLength)
      guard let frame = ADTSFrame(octets, at: place), offset + frame.size <= source.size else {
        break
      }
      packets.append(offset..<offset + frame.size)
      offset += frame.size
    }
    guard !packets.isEmpty else { return nil }
    self.init(configuration: [], packets: packets)
  }

  /// Reads the tables of the first sound track: sizes, chunks, and packets in a chunk
  /// (ISO 14496-12 sections 8.7.3 to 8.7.5).
  init?(mp4 source: some ByteSource) {
    let tracks = Boxes(source, in: 0..<source.size)["moov"]?.all("trak") ?? []
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
    guard !packets.isEmpty else { return nil }
    self.init(configuration: stream.configuration, packets: packets)
  }
}

extension Boxes {
  /// The numbers of a table, which says how many there are; as many as are there and bearable.
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
