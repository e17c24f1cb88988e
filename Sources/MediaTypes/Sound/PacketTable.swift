/// Where the packets of an AAC sound are in a file, and what its decoder needs first.
package struct PacketTable: Sendable, Hashable {
  /// The AudioSpecificConfig (ISO 14496-3 section 1.6.2.1); empty for ADTS, whose packets say it.
  package let configuration: [UInt8]
  /// In the order of playing, all within the file.
  package let packets: [Range<Int>]

  /// The most packets that are read: more than twenty minutes at 48 kHz.
  fileprivate static let most = 1 << 16
  /// The most bytes of a packet.
  fileprivate static let largest = 1 << 16
}

extension Sound {
  /// Where the packets of an AAC sound are; nil for other codecs.
  package func packets(in source: some ByteSource) -> PacketTable? {
    guard codec == .aac else { return nil }
    return switch type.value {
    case "audio/aac": PacketTable(adts: source)
    case "audio/x-caf": PacketTable(caf: source)
    case "audio/mp4": PacketTable(mp4: source)
    default: nil
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
    let frames = SyncedFrames<_, ADTSFrame>(source, from: ID3Tag.end(in: source))
    self.init([], frames.prefix(Self.most).map { $0.range })
  }

  /// Reads the tables and fragments of the sound track: the packets that its edit list plays.
  init?(mp4 source: some ByteSource) {
    guard let movie = Boxes(source: source, range: 0..<source.size)["moov"],
      let track = movie.soundTrack, let stream = track.stream, stream.aac?.packetSamples != nil
    else { return nil }
    let edits = movie["mvhd"]?.clock.flatMap { track.edits(movieScale: $0.scale) }
    let start = edits?.map(\.lowerBound).min() ?? 0
    var packets: [Range<Int>] = []
    var ticks = 0
    let samples = MediaSamples(source: source, track: track, movie: movie)
    _ = samples.forEachRun { run in
      guard run.size <= Self.largest else { return false }
      // Packets that end before what is played.
      let hidden = run.ticks > 0 ? max(0, start - ticks) / run.ticks : ticks < start ? run.count : 0
      for index in (0..<run.count).dropFirst(hidden).prefix(Self.most - packets.count) {
        let offset = run.offset + index * run.size
        packets.append(offset..<offset + run.size)
      }
      ticks = min(ticks + run.count * run.ticks, 1 << 61)
      return packets.count < Self.most
    }
    self.init(stream.configuration, packets)
  }

  /// Reads a Core Audio file, whose `kuki` is an `esds` box without its version.
  init?(caf source: some ByteSource) {
    var stream: ElementaryStream?
    var table: Range<Int>?
    var data: Range<Int>?
    for chunk in Chunks(source, from: 8, layout: .caf) {
      switch chunk.id {
      case "kuki":
        let octets = source.octets(chunk.body.prefix(128))
        stream = ElementaryStream(octets, at: octets[0] == 3 ? 0 : 4)
      case "pakt": table = chunk.body.dropFirst(24)
      case "data": data = chunk.body.dropFirst(4)
      default: continue
      }
    }
    guard let stream, stream.aac?.packetSamples != nil, let table, let data else { return nil }
    let packets = CAFPackets(source, table, data: data).prefix(Self.most)
    self.init(stream.configuration, packets.prefix { $0.count <= Self.largest })
  }
}
