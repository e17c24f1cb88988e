extension Sound {
  /// Ogg (RFC 3533) with Opus (RFC 7845), Vorbis, Speex or FLAC: the last page holds the length.
  static func ogg(_ source: some ByteSource) throws(SoundError) -> Sound {
    let type = MediaType(known: "audio/ogg")
    let head = source.octets(at: 0, count: 1024)
    guard let serial = head.little(at: 14, count: 4), let segments = head[26] else {
      throw SoundError(
        code: .damaged, reason: "This sound is incomplete. Copy or export it again.",
        detail: "no whole first page")
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
