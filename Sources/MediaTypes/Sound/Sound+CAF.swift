extension Sound {
  /// Apple Core Audio Format (Core Audio Format Specification 1.0).
  static func caf(_ source: some ByteSource) throws(SoundError) -> Sound {
    let type = MediaType(known: "audio/x-caf")
    var description: CAFDescription?
    var packetFrames: Int?
    var data: Range<Int>?
    for chunk in Chunks(source, in: 8..<max(8, source.size), layout: .caf) {
      let octets = source.octets(at: chunk.body.lowerBound, count: min(32, chunk.body.count))
      switch chunk.id {
      case "desc": description = CAFDescription(octets)
      case "pakt": packetFrames = octets.big(at: 8, count: 8)
      case "data":
        data = min(chunk.body.lowerBound + 4, chunk.body.upperBound)..<chunk.body.upperBound
      default: continue
      }
    }
    guard let description else { throw .damaged(type, "does not describe its samples") }
    guard let data else { throw .damaged(type, "has no samples") }
    return try description.sound(type, data: data, packetFrames: packetFrames)
  }
}

/// The `desc` chunk: an AudioStreamBasicDescription.
private struct CAFDescription {
  let sampleRate: Double
  let format: String
  let flags: Int
  let bytesPerPacket: Int
  let framesPerPacket: Int
  let channels: Int
  let bits: Int

  init?(_ octets: Octets) {
    guard let sampleRate = octets.double(at: 0), sampleRate >= 1, sampleRate < 10_000_000,
      let format = octets.code(at: 8), let flags = octets.big(at: 12, count: 4),
      let bytesPerPacket = octets.big(at: 16, count: 4),
      let framesPerPacket = octets.big(at: 20, count: 4),
      let channels = octets.big(at: 24, count: 4), let bits = octets.big(at: 28, count: 4)
    else { return nil }
    self.sampleRate = sampleRate
    self.format = format
    self.flags = flags
    self.bytesPerPacket = bytesPerPacket
    self.framesPerPacket = framesPerPacket
    self.channels = channels
    self.bits = bits
  }

  private var codec: Codec {
    switch format {
    case "lpcm": flags & 1 == 1 ? .float : .pcm
    case "alaw": .alaw
    case "ulaw": .ulaw
    case "ima4": .ima4
    case "aac ", "aach", "aacl", "aacp", "aace": .aac
    case "alac": .alac
    case ".mp3": .mp3
    case ".mp2", ".mp1": .mp2
    case "opus": .opus
    case "flac": .flac
    default: .other
    }
  }

  private var sampleFormat: SampleLayout.Format? {
    switch codec {
    case .pcm: .signedInteger
    case .float: .float
    case .alaw: .alaw
    case .ulaw: .ulaw
    case .ima4: .ima4
    default: nil
    }
  }

  func sound(_ type: MediaType, data: Range<Int>, packetFrames: Int?) throws(SoundError) -> Sound {
    let samples = sampleFormat.flatMap {
      SampleLayout(
        bytes: data, format: $0, bytesPerSample: codec == .ima4 ? 34 : (bits + 7) / 8,
        isBigEndian: flags & 2 == 0,
        channels: channels)
    }
    let frames: Double =
      if let samples {
        Double(samples.frames)
      } else if bytesPerPacket > 0 {
        Double(data.count / bytesPerPacket) * Double(framesPerPacket)
      } else {
        Double(packetFrames ?? 0)
      }
    return try Sound(
      type: type, codec: codec, channels: channels, sampleRate: Int(sampleRate),
      duration: frames / sampleRate, samples: samples)
  }
}
