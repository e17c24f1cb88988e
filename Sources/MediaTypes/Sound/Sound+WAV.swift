extension Sound {
  /// RIFF WAVE (IBM and Microsoft, 1991), also as RF64 and BW64 (EBU Tech 3306).
  static func wav(_ source: some ByteSource) throws(SoundError) -> Sound {
    let type = MediaType(known: "audio/wav")
    var format: WAVFormat?
    var totalFrames: Int?
    for chunk in Chunks(source, in: 12..<max(12, source.size), layout: .riff) {
      let octets = source.octets(at: chunk.body.lowerBound, count: min(40, chunk.body.count))
      switch chunk.id {
      case "fmt ": format = WAVFormat(octets)
      case "fact": totalFrames = octets.little(at: 0, count: 4)
      case "data":
        guard let format else { throw .damaged(type, "has samples before it says their format") }
        return try format.sound(type, data: chunk.body, totalFrames: totalFrames)
      default: continue
      }
    }
    throw .damaged(type, "has no samples")
  }
}

/// The `fmt ` chunk (WAVEFORMATEX and WAVEFORMATEXTENSIBLE).
private struct WAVFormat {
  let tag: Int
  let channels: Int
  let sampleRate: Int
  let bytesPerSecond: Int
  let bits: Int

  init?(_ octets: Octets) {
    guard var tag = octets.little(at: 0, count: 2), let channels = octets.little(at: 2, count: 2),
      let sampleRate = octets.little(at: 4, count: 4),
      let bytesPerSecond = octets.little(at: 8, count: 4),
      let bits = octets.little(at: 14, count: 2)
    else { return nil }
    let isExtensible = 0xFFFE
    if tag == isExtensible { tag = octets.little(at: 24, count: 2) ?? isExtensible }
    self.tag = tag
    self.channels = channels
    self.sampleRate = sampleRate
    self.bytesPerSecond = bytesPerSecond
    self.bits = bits
  }

  private var codec: Codec {
    switch tag {
    case 1: .pcm
    case 2: .msADPCM
    case 3: .float
    case 6: .alaw
    case 7: .ulaw
    case 0x11: .imaADPCM
    case 0x55: .mp3
    case 0xFF, 0x1610: .aac
    default: .other
    }
  }

  private var sampleFormat: SampleLayout.Format? {
    switch codec {
    case .pcm: bits <= 8 ? .unsignedInteger : .signedInteger
    case .float: .float
    case .alaw: .alaw
    case .ulaw: .ulaw
    default: nil
    }
  }

  func sound(_ type: MediaType, data: Range<Int>, totalFrames: Int?) throws(SoundError) -> Sound {
    let samples = sampleFormat.flatMap {
      SampleLayout(
        bytes: data, format: $0, bytesPerSample: (bits + 7) / 8, isBigEndian: false,
        channels: channels)
    }
    guard sampleRate > 0 else { throw .damaged(type, "claims a sample rate of 0 Hz") }
    let duration =
      if let samples {
        Double(samples.frames) / Double(sampleRate)
      } else if let totalFrames {
        Double(totalFrames) / Double(sampleRate)
      } else {
        bytesPerSecond > 0 ? Double(data.count) / Double(bytesPerSecond) : 0
      }
    return try Sound(
      type: type, codec: codec, channels: channels, sampleRate: sampleRate, duration: duration,
      samples: samples)
  }
}
