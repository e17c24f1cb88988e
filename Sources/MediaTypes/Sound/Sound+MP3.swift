extension Sound {
  /// MPEG audio: ID3v2 in front is skipped, a Xing, Info or VBRI tag is asked, else frames count.
  static func mp3(_ source: some ByteSource) throws(SoundError) -> Sound {
    let type = MediaType(known: "audio/mpeg")
    guard let start = firstFrame(source),
      let frame = MPEGFrame(source.octets(at: start, count: MPEGFrame.headLength))
    else { throw .damaged(type, "has no MPEG audio frame") }
    let frames = taggedFrames(source, at: start, frame) ?? countedFrames(source, from: start, frame)
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

  private static func countedFrames(
    _ source: some ByteSource, from start: Int, _ first: MPEGFrame
  ) -> Int {
    var window = Window(source)
    var offset = start
    var count = 0
    while true {
      let (octets, place) = window.octets(at: offset, count: MPEGFrame.headLength)
      guard let frame = MPEGFrame(octets, at: place), frame.sampleRate == first.sampleRate,
        offset + frame.size <= source.size
      else { return count }
      offset += frame.size
      count += 1
    }
  }
}

extension Octets {
  /// A number of four bytes with seven bits each, as ID3v2 writes sizes.
  fileprivate func synchsafe(at offset: Int) -> Int? {
    guard let value = big(at: offset, count: 4), value & 0x8080_8080 == 0 else { return nil }
    return (0..<4).reduce(0) { $0 << 7 | value >> (24 - 8 * $1) & 0x7F }
  }
}
