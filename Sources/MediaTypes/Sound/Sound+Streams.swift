extension Sound {
  /// AAC frames without a container (ADTS): every frame is counted, no sample is decoded.
  static func adts(_ source: some ByteSource) throws(SoundError) -> Sound {
    let type = MediaType(known: "audio/aac")
    guard let first = ADTSFrame(source.octets(at: 0, count: ADTSFrame.headLength)) else {
      throw .damaged(type, "has no AAC frame")
    }
    var window = Window(source)
    var offset = 0
    var samples = 0
    while true {
      let (octets, place) = window.octets(at: offset, count: ADTSFrame.headLength)
      guard let frame = ADTSFrame(octets, at: place), offset + frame.size <= source.size else {
        break
      }
      offset += frame.size
      samples += frame.samples
    }
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
    var window = Window(source)
    var offset = isWide ? 9 : 6
    var frames = 0
    while true {
      let (octets, place) = window.octets(at: offset, count: 1)
      guard let head = octets[place], case let size = sizes[head >> 3 & 15], size > 0,
        offset + size <= source.size
      else { break }
      offset += size
      frames += 1
    }
    return try Sound(
      type: MediaType(known: isWide ? "audio/amr-wb" : "audio/amr"), codec: .amr, channels: 1,
      sampleRate: isWide ? 16000 : 8000, duration: Double(frames) * 0.02)
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
}
