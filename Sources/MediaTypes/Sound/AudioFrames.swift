/// The header of an MPEG audio frame, four bytes (ISO 11172-3 section 2.4.1.3, 13818-3).
struct MPEGFrame: SyncedFrame {
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

  var clock: FrameClock { FrameClock(sampleRate: sampleRate, samples: samples) }

  /// The frame that begins at the offset; nil when no valid header is there.
  init?(_ octets: Octets, at offset: Int) {
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
struct ADTSFrame: SyncedFrame {
  /// Hertz.
  let sampleRate: Int
  let channels: Int
  /// Bytes of the frame, with its header.
  let size: Int
  /// Samples of each channel in the frame.
  let samples: Int

  static let headLength = 7

  var clock: FrameClock { FrameClock(sampleRate: sampleRate, samples: 1024) }

  /// The frame that begins at the offset; nil when no valid header is there.
  init?(_ octets: Octets, at offset: Int) {
    guard let head = octets.big(at: offset, count: 7), head >> 44 == 0xFFF, head >> 41 & 3 == 0,
      let rate = AACProfile.sampleRate(index: head >> 34 & 15)
    else { return nil }
    sampleRate = rate
    channels = AACProfile.channels(configuration: head >> 30 & 7)
    size = head >> 13 & 0x1FFF
    samples = 1024 * ((head & 3) + 1)
    guard size > Self.headLength else { return nil }
  }
}
