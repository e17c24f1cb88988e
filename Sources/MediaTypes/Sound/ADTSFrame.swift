/// The seven-byte head of an AAC frame outside a container (ISO 13818-7 section 6.2).
struct ADTSFrame {
  /// Hertz.
  let sampleRate: Int
  let channels: Int
  /// The whole frame in bytes, its head included.
  let size: Int
  /// How many samples of each channel a frame holds.
  let samples: Int

  static let headLength = 7

  /// The frame that begins at the offset; nil when no valid head stands there.
  init?(_ octets: Octets, at offset: Int = 0) {
    guard let head = octets.big(at: offset, count: 7), head >> 44 == 0xFFF, head >> 41 & 3 == 0,
      let rate = AACProfile.sampleRate(index: head >> 34 & 15)
    else { return nil }
    sampleRate = rate
    channels = AACProfile.channels(configuration: head >> 30 & 7)
    size = head >> 13 & 0x1FFF
    samples = 1024 * ((head & 3) + 1)
    guard size > Self.headLength else { return nil }
  }

  /// Whether a second frame of the same rate follows the first.
  static func isStream(_ octets: Octets, at offset: Int = 0) -> Bool {
    guard let frame = ADTSFrame(octets, at: offset),
      let next = ADTSFrame(octets, at: offset + frame.size)
    else { return false }
    return next.sampleRate == frame.sampleRate
  }
}

/// The tables that every form of AAC shares (ISO 14496-3 section 1.6.3).
enum AACProfile {
  /// Hertz for a frequency index; nil for the reserved ones.
  static func sampleRate(index: Int) -> Int? {
    let rates = [
      96000, 88200, 64000, 48000, 44100, 32000, 24000, 22050, 16000, 12000, 11025, 8000, 7350,
    ]
    return rates.indices.contains(index) ? rates[index] : nil
  }

  /// Channels for a channel configuration; two where the stream says it elsewhere.
  static func channels(configuration: Int) -> Int {
    [2, 1, 2, 3, 4, 5, 6, 8][configuration & 7]
  }
}
