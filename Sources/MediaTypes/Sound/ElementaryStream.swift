/// The `esds` box of MPEG-4 (ISO 14496-1 section 7.2.6.5): what an AAC track really holds.
///
/// The track's own fields cannot be asked: they say two channels whatever there are.
struct ElementaryStream {
  let codec: Codec
  let channels: Int
  /// Hertz.
  let sampleRate: Int
  /// The AudioSpecificConfig (ISO 14496-3 section 1.6.2.1), which a decoder needs first.
  let configuration: [UInt8]

  /// Reads the box in a track's first `stsd` entry, behind its fields; in QuickTime it is in `wave`.
  init?(in entries: Boxes<some ByteSource>) {
    let isExtended = entries.octets(26).big(at: 24, count: 2) == 1
    let inside = entries.dropping(isExtended ? 60 : 44)
    guard let box = inside["esds"] ?? inside["wave"]?["esds"] else { return nil }
    self.init(box.octets(128))
  }

  /// Reads the box's content, behind its version; nil when it does not hold an AAC configuration.
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
