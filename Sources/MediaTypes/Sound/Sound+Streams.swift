// Sounds that are streams of frames or pages: MP3, AAC (ADTS), AMR, FLAC and Ogg.

extension Sound {
  /// MPEG audio: ID3v2 in front is skipped, a Xing, Info or VBRI tag is asked, else frames count.
  static func mp3(_ source: some ByteSource) throws(SoundError) -> Sound {
    let type = MediaType(known: "audio/mpeg")
    guard let start = firstFrame(source),
      let frame = MPEGFrame(source.octets(at: start, count: MPEGFrame.headLength))
    else { throw .damaged(type, "has no MPEG audio frame") }
    let stream = Frames(source, from: start, headLength: MPEGFrame.headLength) { octets, place in
      MPEGFrame(octets, at: place).map { ($0.sampleRate, $0.size) }
    }
    let frames =
      taggedFrames(source, at: start, frame)
      ?? stream.lazy.prefix { $0.frame == frame.sampleRate }.reduce(0) { count, _ in count + 1 }
    guard frames > 0 else { throw .damaged(type, "holds no whole frame") }
    return try Sound(
      type: type, codec: frame.layer == 3 ? .mp3 : .mp2, channels: frame.channels,
      sampleRate: frame.sampleRate,
      duration: Double(frames) * Double(frame.samples) / Double(frame.sampleRate))
  }

  /// Where the first frame begins: behind ID3v2 tags, within 64 KiB of what is not one.
  private static func firstFrame(_ source: some ByteSource) -> Int? {
    var start = 0
    for _ in 0..<16 {
      let head = source.octets(at: start, count: 10)
      guard head.has("ID3"), let flags = head[5], let length = head.synchsafe(at: 6) else { break }
      let hasFooter = flags & 0x10 != 0
      start += 10 + length + (hasFooter ? 10 : 0)
    }
    let octets = source.octets(at: start, count: 1 << 16)
    let offset = (0..<max(0, octets.count - 3)).first { offset in
      octets[offset] == 0xFF
        && (MPEGFrame.isStream(octets, at: offset) || isLast(octets, at: offset))
    }
    return offset.map { start + $0 }
  }

  /// Whether a single frame ends exactly where the bytes end, or before an ID3v1 tag.
  private static func isLast(_ octets: Octets, at offset: Int) -> Bool {
    guard let frame = MPEGFrame(octets, at: offset) else { return false }
    let end = offset + frame.size
    return end == octets.count || octets.has("TAG", at: end)
  }

  /// How many frames a variable-rate file says it has in its first one.
  private static func taggedFrames(
    _ source: some ByteSource, at start: Int, _ frame: MPEGFrame
  ) -> Int? {
    let octets = source.octets(at: start, count: 64)
    let xing = MPEGFrame.headLength + frame.sideInformation
    let frames: Int? =
      if octets.has("Xing", at: xing) || octets.has("Info", at: xing),
        let flags = octets.big(at: xing + 4, count: 4), flags & 1 == 1
      {
        octets.big(at: xing + 8, count: 4)
      } else if octets.has("VBRI", at: 36) {
        octets.big(at: 50, count: 4)
      } else {
        nil
      }
    // A frame has a head at least: a tag that claims more than could be there is not believed.
    return frames.flatMap { (1...source.size / MPEGFrame.headLength).contains($0) ? $0 : nil }
  }

  /// AAC frames without a container (ADTS): every frame is counted, no sample is decoded.
  static func adts(_ source: some ByteSource) throws(SoundError) -> Sound {
    let type = MediaType(known: "audio/aac")
    guard let first = ADTSFrame(source.octets(at: 0, count: ADTSFrame.headLength)) else {
      throw .damaged(type, "has no AAC frame")
    }
    let samples = ADTSFrame.frames(of: source).reduce(0) { $0 + $1.frame.samples }
    return try Sound(
      type: type, codec: .aac, channels: first.channels, sampleRate: first.sampleRate,
      duration: Double(samples) / Double(first.sampleRate))
  }

  /// AMR storage format (RFC 4867 section 5): twenty milliseconds a frame.
  static func amr(_ source: some ByteSource) throws(SoundError) -> Sound {
    let isWide = source.octets(at: 0, count: 9).has("#!AMR-WB\n")
    let sizes =
      isWide
      ? [18, 24, 33, 37, 41, 47, 51, 59, 61, 6, 0, 0, 0, 0, 1, 1]
      : [13, 14, 16, 18, 20, 21, 27, 32, 6, 0, 0, 0, 0, 0, 0, 1]
    let frames = Frames(source, from: isWide ? 9 : 6, headLength: 1) { octets, place in
      octets[place].map { sizes[$0 >> 3 & 15] }.flatMap { $0 > 0 ? ((), $0) : nil }
    }
    return try Sound(
      type: MediaType(known: isWide ? "audio/amr-wb" : "audio/amr"), codec: .amr, channels: 1,
      sampleRate: isWide ? 16000 : 8000,
      duration: Double(frames.reduce(0) { count, _ in count + 1 }) * 0.02)
  }

  /// FLAC (RFC 9639 section 8.2): the STREAMINFO block comes first and says everything.
  static func flac(_ source: some ByteSource) throws(SoundError) -> Sound {
    let type = MediaType(known: "audio/flac")
    guard let facts = source.octets(at: 18, count: 8).big(at: 0, count: 8),
      case let rate = facts >> 44, rate > 0
    else { throw .damaged(type, "has no valid STREAMINFO block") }
    return try Sound(
      type: type, codec: .flac, channels: (facts >> 41 & 7) + 1, sampleRate: rate,
      duration: Double(facts & 0xF_FFFF_FFFF) / Double(rate))
  }

  /// Ogg (RFC 3533) with Opus (RFC 7845), Vorbis, Speex or FLAC: the last page holds the length.
  static func ogg(_ source: some ByteSource) throws(SoundError) -> Sound {
    let type = MediaType(known: "audio/ogg")
    let head = source.octets(at: 0, count: 1024)
    guard let serial = head.little(at: 14, count: 4), let segments = head[26] else {
      throw .incomplete("no whole first page")
    }
    let packet = 27 + segments
    let codec: Codec
    let channels: Int?
    var rate: Int?
    var skipped = 0
    if head.has("OpusHead", at: packet) {
      (codec, channels, rate) = (.opus, head[packet + 9], 48000)
      skipped = head.little(at: packet + 10, count: 2) ?? 0
    } else if head.has("vorbis", at: packet + 1) {
      (codec, channels) = (.vorbis, head[packet + 11])
      rate = head.little(at: packet + 12, count: 4)
    } else if head.has("Speex   ", at: packet) {
      (codec, channels) = (.speex, head.little(at: packet + 48, count: 4))
      rate = head.little(at: packet + 36, count: 4)
    } else if head.has("FLAC", at: packet + 1), head.has("fLaC", at: packet + 9) {
      (codec, channels) = (.flac, head[packet + 29].map { ($0 >> 1 & 7) + 1 })
      rate = head.big(at: packet + 27, count: 3).map { $0 >> 4 }
    } else {
      throw .damaged(type, "holds no known codec")
    }
    guard let channels, let rate, rate > 0 else { throw .damaged(type, "has a broken first page") }
    let samples = max(0, lastPosition(source, serial: serial) - skipped)
    return try Sound(
      type: type, codec: codec, channels: channels, sampleRate: rate,
      duration: Double(samples) / Double(rate))
  }

  /// The granule position of the stream's last page, looked for in the last 128 KiB.
  private static func lastPosition(_ source: some ByteSource, serial: Int) -> Int {
    let tail = source.octets(at: max(0, source.size - 1 << 17), count: 1 << 17)
    let page = stride(from: tail.count - 27, through: 0, by: -1).first { offset in
      tail[offset] == 0x4F && tail.has("OggS", at: offset)
        && tail.little(at: offset + 14, count: 4) == serial
        && tail.little(at: offset + 6, count: 8) != nil
    }
    return page.flatMap { tail.little(at: $0 + 6, count: 8) } ?? 0
  }
}

extension Octets {
  /// A number of four bytes with seven bits each, as ID3v2 writes sizes.
  fileprivate func synchsafe(at offset: Int) -> Int? {
    guard let value = big(at: offset, count: 4), value & 0x8080_8080 == 0 else { return nil }
    return (0..<4).reduce(0) { $0 << 7 | value >> (24 - 8 * $1) & 0x7F }
  }
}
