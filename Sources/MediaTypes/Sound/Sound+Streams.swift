// Sounds that are frames one after the other: MP3, AAC (ADTS) and AMR. All frames are measured, and
// no number of a header is believed; no sample is decoded.

extension Sound {
  /// MPEG audio, or what else stands behind an ID3v2 tag: AAC or FLAC.
  static func mp3(_ source: some ByteSource) throws(SoundError) -> Sound {
    let start = ID3Tag.end(in: source)
    if start > 0 {
      let head = source.octets(at: start, count: 1 << 14)
      if ADTSFrame.isStream(head) { return try adts(source, from: start) }
      if head.has("fLaC") { return try flac(source, from: start) }
    }
    let type = MediaType(known: "audio/mpeg")
    // A tag's length may be wrong, and what it covers may be frames.
    let isTag = start < source.size
    guard let measure = MPEGMeasure(source, from: isTag ? start : 0) else {
      throw .damaged(type, "has no MPEG audio frame")
    }
    let first = measure.first
    return try Sound(
      type: type, codec: first.layer == 3 ? .mp3 : .mp2, channels: first.channels,
      sampleRate: first.sampleRate, duration: measure.duration)
  }

  /// AAC frames without a container (ADTS).
  static func adts(_ source: some ByteSource, from start: Int = 0) throws(SoundError) -> Sound {
    var first: ADTSFrame?
    var length = StreamLength()
    for (frame, _) in SyncedFrames<_, ADTSFrame>(source, from: start) {
      first = first ?? frame
      length.add(frame)
    }
    let type = MediaType(known: "audio/aac")
    guard let first else { throw .damaged(type, "has no AAC frame") }
    return try Sound(
      type: type, codec: .aac, channels: first.channels, sampleRate: first.sampleRate,
      duration: length.seconds)
  }

  /// AMR storage format (RFC 4867 section 5): twenty milliseconds a frame.
  static func amr(_ source: some ByteSource) throws(SoundError) -> Sound {
    let isWide = source.octets(at: 0, count: 9).has("#!AMR-WB\n")
    let sizes =
      isWide
      ? [18, 24, 33, 37, 41, 47, 51, 59, 61, 6, 0, 0, 0, 0, 1, 1]
      : [13, 14, 16, 18, 20, 21, 27, 32, 6, 0, 0, 0, 0, 0, 0, 1]
    var window = ByteWindow(source)
    var (offset, frames) = (isWide ? 9 : 6, 0)
    while offset < source.size {
      let place = window.place(of: offset, count: 1)
      guard let head = window.octets[place], case let size = sizes[head >> 3 & 15], size > 0,
        size <= source.size - offset
      else { break }
      (offset, frames) = (offset + size, frames + 1)
    }
    return try Sound(
      type: MediaType(known: isWide ? "audio/amr-wb" : "audio/amr"), codec: .amr, channels: 1,
      sampleRate: isWide ? 16000 : 8000, duration: Double(frames) * 0.02)
  }
}

/// The length of frames, whose sample rate may change where files were joined.
struct StreamLength {
  private var finished = 0.0
  private var samples = 0
  private var sampleRate = 1

  /// Seconds.
  var seconds: Double { finished + Double(samples) / Double(sampleRate) }

  mutating func add(_ frame: some SyncedFrame) {
    if frame.clock.sampleRate != sampleRate {
      (finished, samples, sampleRate) = (seconds, 0, frame.clock.sampleRate)
    }
    samples += frame.samples
  }
}

/// What plays of MPEG audio: all frames but a first one that only describes the others, without the
/// silence that an encoder says it has added.
struct MPEGMeasure {
  /// The first frame that plays.
  let first: MPEGFrame
  /// Seconds.
  let duration: Double

  /// Samples that every decoder of layer III adds in front.
  private static let decoderDelay = 529

  /// Nil when there is no frame that plays.
  init?(_ source: some ByteSource, from start: Int) {
    var frames = SyncedFrames<_, MPEGFrame>(source, from: start)
    guard let (head, range) = frames.next() else { return nil }
    let tag = head.layer == 3 ? MPEGTag(source.octets(range.prefix(192)), head) : nil
    var first = tag == nil ? head : nil
    var length = StreamLength()
    if tag == nil { length.add(head) }
    /// Frames that follow before others with another clock.
    var (count, isAlike) = (0, true)
    while let (frame, _) = frames.next() {
      first = first ?? frame
      length.add(frame)
      isAlike = isAlike && frame.clock == head.clock
      if isAlike { count += 1 }
    }
    guard let first else { return nil }
    self.first = first
    var silence = 0
    if let tag, let padding = tag.padding {
      silence = padding.front + Self.decoderDelay
      // What is behind the last frame that the tag counts is music when files were joined.
      if let frames = tag.frames, frames > 0, frames <= count {
        silence += max(0, padding.back - Self.decoderDelay)
      }
    }
    duration = max(0, length.seconds - Double(silence) / Double(head.sampleRate))
  }
}

/// A first frame with no sound, but a description of the file: Xing's, LAME's (`Info`) or VBRI.
struct MPEGTag {
  /// How many frames follow, as it says.
  let frames: Int?
  /// Samples of silence that the encoder added; nil when it does not say.
  let padding: (front: Int, back: Int)?

  /// Nil for a frame with sound.
  init?(_ octets: Octets, _ frame: MPEGFrame) {
    let xing = MPEGFrame.headLength + frame.sideInformation
    if octets.has("Xing", at: xing) || octets.has("Info", at: xing) {
      guard let flags = octets.big(at: xing + 4, count: 4) else { return nil }
      frames = flags & 1 == 1 ? octets.big(at: xing + 8, count: 4) : nil
      // The fields before are there or not, each by its flag.
      let sizes = [4, 4, 100, 4].enumerated().map { flags >> $0 & 1 == 1 ? $1 : 0 }
      let encoder = xing + 8 + sizes.reduce(0, +)
      let isKnown =
        octets.has("LAME", at: encoder) || octets.has("Lavf", at: encoder)
        || octets.has("Lavc", at: encoder)
      padding =
        isKnown
        ? octets.big(at: encoder + 21, count: 3).map { ($0 >> 12, $0 & 0xFFF) } : nil
    } else if octets.has("VBRI", at: 36) {
      frames = octets.big(at: 50, count: 4)
      padding = nil
    } else {
      return nil
    }
  }
}
