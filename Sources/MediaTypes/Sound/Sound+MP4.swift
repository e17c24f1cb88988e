extension Sound {
  /// ISO base media (ISO 14496-12): the first sound track of MP4, M4A, 3GP and QuickTime.
  static func mp4(_ source: some ByteSource) throws(SoundError) -> Sound {
    guard let movie = Boxes(source: source, range: 0..<source.size)["moov"] else {
      throw .incomplete("no moov box")
    }
    let tracks = movie.all("trak").compactMap { $0["mdia"] }
    if Set(["soun", "vide"]).isSubset(of: tracks.map(\.handler)) {
      throw SoundError(reason: "This is a film, not a sound. Export its sound as M4A.")
    }
    for media in tracks {
      guard media.handler == "soun", let entries = media["minf"]?["stbl"]?["stsd"],
        case let entry = entries.octets(64), entry.count >= 44
      else { continue }
      let clock = media["mdhd"].flatMap { timing($0) }
      let seconds =
        if let clock, clock.length > 0 {
          Double(clock.length) / Double(clock.scale)
        } else {
          Double(movie["mvex"]?["mehd"].flatMap { fragmentLength($0) } ?? 0)
            / Double(movie["mvhd"].flatMap { timing($0) }?.scale ?? 1)
        }
      // The first entry (ISO 14496-12 section 12.2.3). Its rate has 16.16 bits, which cannot say more
      // than 65535 Hz; the track's own clock then says it.
      let rate = (entry.big(at: 40, count: 4) ?? 0) >> 16
      let stream = ElementaryStream(in: entries)
      return try Sound(
        type: MediaType(known: "audio/mp4"),
        codec: stream?.codec ?? Codec(code: entry.code(at: 12)),
        channels: stream?.channels ?? entry.big(at: 32, count: 2) ?? 0,
        sampleRate: stream?.sampleRate ?? (rate > 0 ? rate : clock?.scale ?? 0),
        duration: seconds)
    }
    throw SoundError(
      reason: "This file has no sound in it. Drop an M4A, MP3, WAV or AIFF.")
  }

  /// The length and its units a second, in `mvhd` and `mdhd` of either version.
  private static func timing(_ box: Boxes<some ByteSource>) -> (length: Int, scale: Int)? {
    let octets = box.octets(32)
    let isLong = octets[0] == 1
    guard let scale = octets.big(at: isLong ? 20 : 12, count: 4), scale > 0,
      let length = octets.big(at: isLong ? 24 : 16, count: isLong ? 8 : 4)
    else { return nil }
    return (length == 0xFFFF_FFFF ? 0 : length, scale)
  }

  private static func fragmentLength(_ box: Boxes<some ByteSource>) -> Int? {
    let octets = box.octets(12)
    return octets.big(at: 4, count: octets[0] == 1 ? 8 : 4)
  }
}

/// The `esds` box of MPEG-4 (ISO 14496-1 section 7.2.6.5): what an AAC track really contains.
///
/// The track's own fields always say two channels.
struct ElementaryStream {
  let codec: Codec
  let channels: Int
  /// Hertz.
  let sampleRate: Int
  /// The AudioSpecificConfig (ISO 14496-3 section 1.6.2.1), which a decoder needs first.
  let configuration: [UInt8]

  /// Reads the box after the fields of a track's first `stsd` entry; in QuickTime it is in `wave`.
  init?(in entries: Boxes<some ByteSource>) {
    let isExtended = entries.octets(26).big(at: 24, count: 2) == 1
    let inside = entries.dropping(isExtended ? 60 : 44)
    guard let box = inside["esds"] ?? inside["wave"]?["esds"] else { return nil }
    self.init(box.octets(128))
  }

  /// Reads the box's content after its version; nil when it has no AAC configuration.
  init?(_ octets: Octets, at start: Int = 4) {
    var offset = start
    guard octets.descriptor(3, at: &offset) != nil, let flags = octets[offset + 2] else {
      return nil
    }
    offset += 3 + (flags & 0x80 == 0 ? 0 : 2) + (flags & 0x20 == 0 ? 0 : 2)
    guard flags & 0x40 == 0, octets.descriptor(4, at: &offset) != nil, let kind = octets[offset]
    else { return nil }
    offset += 13
    guard let length = octets.descriptor(5, at: &offset),
      let bits = octets.big(at: offset, count: 2)
    else { return nil }
    configuration = Array(octets.bytes.dropFirst(offset).prefix(length))
    // Five bits, four bits, four bits.
    let object = bits >> 11
    guard let rate = AACProfile.sampleRate(index: bits >> 7 & 15) else { return nil }
    let isParametricStereo = object == 29
    codec = kind == 0x6B || kind == 0x69 ? .mp3 : .aac
    channels = isParametricStereo ? 2 : AACProfile.channels(configuration: bits >> 3 & 15)
    // With spectral band replication the stream plays at the rate that follows.
    let extended = octets.big(at: offset + 1, count: 2).map { $0 >> 7 & 15 }
    let isReplicated = object == 5 || isParametricStereo
    sampleRate = isReplicated ? extended.flatMap(AACProfile.sampleRate) ?? rate : rate
  }
}

extension Octets {
  /// Steps into a descriptor with this tag; its length, which may take several bytes.
  fileprivate func descriptor(_ tag: Int, at offset: inout Int) -> Int? {
    guard self[offset] == tag else { return nil }
    var length = 0
    for _ in 0..<4 {
      offset += 1
      guard let byte = self[offset] else { return nil }
      length = length << 7 | byte & 0x7F
      if byte & 0x80 == 0 { break }
    }
    offset += 1
    return length
  }
}
