/// The `esds` box of MPEG-4 (ISO 14496-1 section 7.2.6.5): what an AAC track really holds.
///
/// The track's own fields cannot be asked: they say two channels whatever there are.
struct ElementaryStream {
  let codec: Codec
  let channels: Int
  /// Hertz.
  let sampleRate: Int

  /// Reads the box's content; nil when it does not hold an AAC configuration.
  init?(_ octets: Octets) {
    var offset = 4
    guard octets.descriptor(3, at: &offset) != nil, let flags = octets[offset + 2] else {
      return nil
    }
    offset += 3 + (flags & 0x80 == 0 ? 0 : 2) + (flags & 0x20 == 0 ? 0 : 2)
    guard flags & 0x40 == 0, octets.descriptor(4, at: &offset) != nil, let kind = octets[offset]
    else { return nil }
    offset += 13
    guard octets.descriptor(5, at: &offset) != nil,
      let bits = octets.big(at: offset, count: 2)
    else { return nil }
    // An AudioSpecificConfig (ISO 14496-3 section 1.6.2.1): five bits, four bits, four bits.
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
