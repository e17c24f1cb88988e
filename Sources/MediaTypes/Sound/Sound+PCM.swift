// The containers that mostly hold uncompressed samples: WAV, AIFF and Core Audio.

extension Sound {
  /// RIFF WAVE (IBM and Microsoft, 1991), also as RF64 and BW64 (EBU Tech 3306).
  static func wav(_ source: some ByteSource) throws(SoundError) -> Sound {
    let type = MediaType(known: "audio/wav")
    var format = Octets(bytes: [])
    var totalFrames: Int?
    for chunk in Chunks(source, from: 12, layout: .riff) {
      switch chunk.id {
      case "fmt ": format = source.octets(chunk.body.prefix(40))
      case "fact": totalFrames = source.octets(chunk.body.prefix(4)).little(at: 0, count: 4)
      case "data": return try wav(type, format, data: chunk.body, totalFrames: totalFrames)
      default: continue
      }
    }
    throw .damaged(type, "has no samples")
  }

  /// Reads the `fmt ` chunk (WAVEFORMATEX and WAVEFORMATEXTENSIBLE).
  private static func wav(
    _ type: MediaType, _ format: Octets, data: Range<Int>, totalFrames: Int?
  ) throws(SoundError) -> Sound {
    guard let tag = format.little(at: 0, count: 2), let channels = format.little(at: 2, count: 2),
      let sampleRate = format.little(at: 4, count: 4),
      let bytesPerSecond = format.little(at: 8, count: 4),
      let bits = format.little(at: 14, count: 2)
    else { throw .damaged(type, "has samples before it says their format") }
    guard sampleRate > 0 else { throw .damaged(type, "claims a sample rate of 0 Hz") }
    let isExtensible = tag == 0xFFFE
    let codec: Codec =
      switch isExtensible ? format.little(at: 24, count: 2) : tag {
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
    let samples = SampleLayout(
      bytes: data, codec: codec, isUnsigned: bits <= 8, bytesPerSample: (bits + 7) / 8,
      isBigEndian: false, channels: channels)
    let frames = samples?.frames ?? totalFrames
    return try Sound(
      type: type, codec: codec, channels: channels, sampleRate: sampleRate,
      duration: frames.map { Double($0) / Double(sampleRate) }
        ?? (bytesPerSecond > 0 ? Double(data.count) / Double(bytesPerSecond) : 0),
      samples: samples)
  }

  /// Audio Interchange File Format, plain and AIFF-C (Apple, 1989 and 1991).
  static func aiff(_ source: some ByteSource) throws(SoundError) -> Sound {
    let type = MediaType(known: "audio/aiff")
    let isCompressed = source.octets(at: 8, count: 4).code(at: 0) == "AIFC"
    var common = Octets(bytes: [])
    var data: Range<Int>?
    for chunk in Chunks(source, from: 12, layout: .iff) {
      switch chunk.id {
      case "COMM": common = source.octets(chunk.body.prefix(22))
      case "SSND": data = chunk.body
      default: continue
      }
    }
    guard let channels = common.big(at: 0, count: 2), let frames = common.big(at: 2, count: 4),
      let bits = common.big(at: 6, count: 2), let rate = common.extended(at: 8), rate >= 1,
      rate < 10_000_000
    else { throw .damaged(type, "has no valid COMM chunk") }
    let compression = isCompressed ? common.code(at: 18) : "NONE"
    let codec = Codec(code: compression)
    let bytesPerSample =
      switch codec {
      case .alaw, .ulaw: 1
      case .ima4: 34
      default: (bits + 7) / 8
      }
    let samples = data.flatMap { body -> SampleLayout? in
      guard body.count >= 8 else { return nil }
      let skipped = source.octets(body.prefix(4)).big(at: 0, count: 4) ?? 0
      return SampleLayout(
        bytes: body.dropFirst(8 + skipped), codec: codec, isUnsigned: compression == "raw ",
        bytesPerSample: bytesPerSample, isBigEndian: compression != "sowt", channels: channels)
    }
    // A packet of IMA 4:1 counts as one frame. A file that is cut short has fewer frames than it claims.
    let claimed = frames * (codec == .ima4 ? 64 : 1)
    let held = samples.map { min(claimed, $0.frames) } ?? claimed
    return try Sound(
      type: type, codec: codec, channels: channels, sampleRate: Int(rate),
      duration: Double(held) / rate, samples: samples)
  }

  /// Apple Core Audio Format (Core Audio Format Specification 1.0).
  static func caf(_ source: some ByteSource) throws(SoundError) -> Sound {
    let type = MediaType(known: "audio/x-caf")
    var description = Octets(bytes: [])
    var packetFrames: Int?
    var data: Range<Int>?
    for chunk in Chunks(source, from: 8, layout: .caf) {
      switch chunk.id {
      case "desc": description = source.octets(chunk.body.prefix(32))
      case "pakt": packetFrames = source.octets(chunk.body.prefix(16)).big(at: 8, count: 8)
      case "data": data = chunk.body.dropFirst(4)
      default: continue
      }
    }
    // An AudioStreamBasicDescription.
    guard let sampleRate = description.double(at: 0), sampleRate >= 1, sampleRate < 10_000_000,
      let format = description.code(at: 8), let flags = description.big(at: 12, count: 4),
      let bytesPerPacket = description.big(at: 16, count: 4),
      let framesPerPacket = description.big(at: 20, count: 4),
      let channels = description.big(at: 24, count: 4),
      let bits = description.big(at: 28, count: 4)
    else { throw .damaged(type, "does not describe its samples") }
    guard let data else { throw .damaged(type, "has no samples") }
    let isFloat = format == "lpcm" && flags & 1 == 1
    let codec = isFloat ? .float : Codec(code: format)
    let samples = SampleLayout(
      bytes: data, codec: codec, bytesPerSample: codec == .ima4 ? 34 : (bits + 7) / 8,
      isBigEndian: flags & 2 == 0, channels: channels)
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

extension Octets {
  /// A positive 80-bit IEEE 754 number (SANE extended), as AIFF writes its sample rate.
  fileprivate func extended(at offset: Int) -> Double? {
    guard let exponent = big(at: offset, count: 2), exponent < 0x7FFF,
      let high = big(at: offset + 2, count: 4), let low = big(at: offset + 6, count: 4)
    else { return nil }
    let mantissa = Double(UInt64(high) << 32 | UInt64(low))
    return Double(sign: .plus, exponent: exponent - 16383 - 63, significand: mantissa)
  }
}
