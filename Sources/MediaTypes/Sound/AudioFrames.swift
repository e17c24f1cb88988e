/// The header of an MPEG audio frame, four bytes (ISO 11172-3 section 2.4.1.3, 13818-3).
struct MPEGFrame {
  /// Hertz.
  let sampleRate: Int
  /// Bits a second.
  let bitRate: Int
  let channels: Int
  /// Bytes of the frame, with its header.
  let size: Int
  /// Samples of each channel in the frame.
  let samples: Int
  /// Bytes of side information, after which a Xing tag may follow.
  let sideInformation: Int
  /// 1, 2 or 3; MP3 is layer 3.
  let layer: Int

  static let headLength = 4

  /// The frame that begins at the offset; nil when no valid header is there.
  init?(_ octets: Octets, at offset: Int = 0) {
    guard let head = octets.big(at: offset, count: 4), head >> 21 == 0x7FF else { return nil }
    let version = head >> 19 & 3  // 0: MPEG 2.5, 2: MPEG 2, 3: MPEG 1
    layer = 4 - (head >> 17 & 3)
    let rateIndex = head >> 12 & 15
    let frequency = head >> 10 & 3
    guard version != 1, layer != 4, (1...14).contains(rateIndex), frequency != 3 else {
      return nil
    }
    let isFirst = version == 3
    let row = isFirst ? Self.rates[layer - 1] : Self.rates[layer == 1 ? 3 : 4]
    bitRate = row[rateIndex - 1] * 1000
    sampleRate = [44100, 48000, 32000][frequency] >> (isFirst ? 0 : version == 2 ? 1 : 2)
    channels = head >> 6 & 3 == 3 ? 1 : 2

    let padding = head >> 9 & 1
    samples = layer == 1 ? 384 : layer == 3 && !isFirst ? 576 : 1152
    size =
      layer == 1
      ? (12 * bitRate / sampleRate + padding) * 4 : samples / 8 * bitRate / sampleRate + padding
    sideInformation = isFirst ? (channels == 1 ? 17 : 32) : (channels == 1 ? 9 : 17)
  }

  /// Whether a second frame of the same kind follows the first (WHATWG MIME Sniffing 6.2.4).
  static func isStream(_ octets: Octets, at offset: Int = 0) -> Bool {
    guard let frame = MPEGFrame(octets, at: offset),
      let next = MPEGFrame(octets, at: offset + frame.size)
    else { return false }
    return next.sampleRate == frame.sampleRate && next.samples == frame.samples
  }

  /// Kilobits a second: MPEG 1 layers I, II, III, then MPEG 2 layer I and layers II and III.
  private static let rates = [
    [32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
    [32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
    [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
    [32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
    [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
  ]
}

/// The header of an AAC frame outside a container, seven bytes (ISO 13818-7 section 6.2).
struct ADTSFrame {
  /// Hertz.
  let sampleRate: Int
  let channels: Int
  /// Bytes of the frame, with its header.
  let size: Int
  /// Samples of each channel in the frame.
  let samples: Int

  static let headLength = 7

  /// The frame that begins at the offset; nil when no valid header is there.
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

  /// The frames of a stream.
  static func frames<Source>(of source: Source) -> Frames<Source, ADTSFrame> {
    Frames(source, from: 0, headLength: headLength) { octets, place in
      ADTSFrame(octets, at: place).map { ($0, $0.size) }
    }
  }

  /// Whether a second frame of the same rate follows the first.
  static func isStream(_ octets: Octets, at offset: Int = 0) -> Bool {
    guard let frame = ADTSFrame(octets, at: offset),
      let next = ADTSFrame(octets, at: offset + frame.size)
    else { return false }
    return next.sampleRate == frame.sampleRate
  }
}

/// The tables that all forms of AAC share (ISO 14496-3 section 1.6.3).
enum AACProfile {
  /// Hertz for a frequency index; nil for the reserved ones.
  static func sampleRate(index: Int) -> Int? {
    let rates = [
      96000, 88200, 64000, 48000, 44100, 32000, 24000, 22050, 16000, 12000, 11025, 8000, 7350,
    ]
    return rates.indices.contains(index) ? rates[index] : nil
  }

  /// Channels for a channel configuration; two when the stream says it elsewhere.
  static func channels(configuration: Int) -> Int {
    [2, 1, 2, 3, 4, 5, 6, 8][configuration & 7]
  }
}
