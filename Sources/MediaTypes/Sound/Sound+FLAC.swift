extension Sound {
  /// FLAC (RFC 9639): STREAMINFO tells the form, and the frames tell how much there is.
  static func flac(_ source: some ByteSource, from start: Int = 0) throws(SoundError) -> Sound {
    let type = MediaType(known: "audio/flac")
    guard let form = FLACForm(source.octets(at: start + 8, count: 18)) else {
      throw .damaged(type, "has no valid STREAMINFO block")
    }
    var frames = start + 4
    for _ in 0..<4096 {
      let head = source.octets(at: frames, count: 4)
      guard let kind = head[0], let length = head.big(at: 1, count: 3) else { break }
      frames += 4 + length
      if kind & 0x80 != 0 { break }
    }
    let samples = FLACMeasure(source, from: frames, form).samples
    return try Sound(
      type: type, codec: .flac, channels: form.channels, sampleRate: form.sampleRate,
      duration: samples.map { Double($0) / Double(form.sampleRate) })
  }
}

/// The form of a FLAC stream, from the STREAMINFO block (RFC 9639 section 8.2).
struct FLACForm {
  /// Hertz.
  let sampleRate: Int
  let channels: Int
  /// Samples of one channel as the encoder counted them; 0 when it did not.
  let samples: Int

  /// Nil when the content of the block is not valid.
  init?(_ content: Octets) {
    guard let facts = content.big(at: 10, count: 8), facts >> 44 > 0 else { return nil }
    (sampleRate, channels, samples) = (facts >> 44, (facts >> 41 & 7) + 1, facts & 0xF_FFFF_FFFF)
  }
}

/// The header of a FLAC frame (RFC 9639 section 9.1).
struct FLACFrame {
  /// Samples of each channel in the frame.
  let samples: Int
  /// The frame's number, or that of its first sample when frames differ in length.
  let number: Int
  /// The number of the frame behind it.
  let following: Int

  /// The longest header.
  static let headLength = 16

  /// The frame that begins at the offset, when its checksum is right and it fits the stream.
  init?(_ octets: Octets, at offset: Int, in form: FLACForm) {
    guard octets[offset] == 0xFF, let second = octets[offset + 1], second & 0xFE == 0xF8,
      let codes = octets[offset + 2], let layout = octets[offset + 3], layout & 1 == 0,
      layout >> 4 <= 10, layout >> 1 & 7 != 3, codes >> 4 != 0, codes & 15 != 15
    else { return nil }
    let channels = layout >> 4 < 8 ? layout >> 4 + 1 : 2
    guard channels == form.channels else { return nil }
    var place = offset + 4
    guard let number = Self.codedNumber(octets, at: &place) else { return nil }
    let size = codes >> 4
    switch size {
    case 1: samples = 192
    case 2...5: samples = 576 << (size - 2)
    case 6, 7:
      guard let value = octets.big(at: place, count: size - 5) else { return nil }
      (samples, place) = (value + 1, place + size - 5)
    default: samples = 256 << (size - 8)
    }
    place += [12: 1, 13: 2, 14: 2][codes & 15] ?? 0
    guard let checksum = octets[place],
      octets.bytes[offset..<place].reduce(0, Self.checksum) == checksum
    else { return nil }
    self.number = number
    following = number + (second & 1 == 1 ? samples : 1)
  }

  /// A number that is written as UTF-8 writes characters, in up to seven bytes.
  private static func codedNumber(_ octets: Octets, at place: inout Int) -> Int? {
    guard let head = octets[place] else { return nil }
    let ones = (~UInt8(truncatingIfNeeded: head)).leadingZeroBitCount
    guard ones != 1, ones < 8 else { return nil }
    place += 1
    var number = ones == 0 ? head : head & (0x7F >> ones)
    for _ in 1..<max(ones, 1) {
      guard let byte = octets[place], byte >> 6 == 2 else { return nil }
      (number, place) = (number << 6 | byte & 0x3F, place + 1)
    }
    return number
  }

  /// CRC-8 with the polynomial 7.
  private static func checksum(_ sum: Int, _ byte: UInt8) -> Int {
    (0..<8).reduce(sum ^ Int(byte)) { sum, _ in (sum << 1 ^ (sum & 0x80 == 0 ? 0 : 7)) & 0xFF }
  }
}

/// How many samples the frames of a FLAC stream have.
struct FLACMeasure {
  /// Samples of one channel; nil when several streams were joined, of which players play different parts.
  let samples: Int?

  /// The most bytes from one frame to the next: more than the largest frame, of eight channels.
  private static let mostBytes = 1 << 24

  /// Looks for the headers of frames, as a frame does not say how long it is.
  init(_ source: some ByteSource, from start: Int, _ form: FLACForm) {
    var window = ByteWindow(source)
    var offset = start
    var counted = 0
    var last: (frame: FLACFrame, offset: Int)?
    /// A header that does not continue the last one: it is chance if the next one does not follow it.
    var doubtful: (frame: FLACFrame, offset: Int)?
    var isJoined = false
    while let found = window.first(0xFF, from: offset),
      found - (last?.offset ?? start) < Self.mostBytes
    {
      offset = found + 1
      let place = window.place(of: found, count: FLACFrame.headLength)
      guard let frame = FLACFrame(window.octets, at: place, in: form) else { continue }
      if frame.number == last?.frame.following ?? 0 {
        counted += frame.samples
        (last, doubtful) = ((frame, found), nil)
      } else if let previous = doubtful, frame.number == previous.frame.following {
        isJoined = isJoined || previous.frame.number <= last?.frame.number ?? -1
        counted += previous.frame.samples + frame.samples
        (last, doubtful) = ((frame, found), nil)
      } else {
        doubtful = (frame, found)
      }
    }
    guard !isJoined else {
      samples = nil
      return
    }
    // The last frame may be cut off, unless the encoder counted as many.
    if let last, counted != form.samples, !Self.isWhole(source, from: last.offset) {
      counted -= last.frame.samples
    }
    samples = counted
  }

  /// Whether a frame that begins here ends with its checksum, at the end or before a tag.
  private static func isWhole(_ source: some ByteSource, from start: Int) -> Bool {
    // The largest frame has eight channels of 65,535 samples with four bytes each.
    let bytes = source.read(at: start, count: 1 << 22)
    let octets = Octets(bytes: bytes)
    let tail = bytes.count - 128
    let end = octets.has("TAG", at: tail) ? tail : bytes.count
    var sum: UInt16 = 0
    for byte in bytes.prefix(end) {
      sum ^= UInt16(byte) << 8
      for _ in 0..<8 { sum = sum << 1 ^ (sum & 0x8000 == 0 ? 0 : 0x8005) }
    }
    return sum == 0
  }
}
