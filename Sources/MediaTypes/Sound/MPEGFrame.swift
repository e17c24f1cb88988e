/// The four-byte head of an MPEG audio frame (ISO 11172-3 section 2.4.1.3, 13818-3).
struct MPEGFrame {
  /// Hertz.
  let sampleRate: Int
  /// Bits a second.
  let bitRate: Int
  let channels: Int
  /// The whole frame in bytes, its head included.
  let size: Int
  /// How many samples of each channel a frame holds.
  let samples: Int
  /// Bytes between the head and where a Xing tag would stand: the side information.
  let sideInformation: Int
  /// 1, 2 or 3; MP3 is layer 3.
  let layer: Int

  static let headLength = 4

  /// The frame that begins at the offset; nil when no valid head stands there.
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
