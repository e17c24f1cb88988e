extension Sound {
  /// Audio Interchange File Format, plain and AIFF-C (Apple, 1989 and 1991).
  static func aiff(_ source: some ByteSource) throws(SoundError) -> Sound {
    let type = MediaType(known: "audio/aiff")
    let isCompressed = source.octets(at: 8, count: 4).code(at: 0) == "AIFC"
    var common: Octets?
    var data: Range<Int>?
    for chunk in Chunks(source, in: 12..<max(12, source.size), layout: .iff) {
      switch chunk.id {
      case "COMM":
        common = source.octets(at: chunk.body.lowerBound, count: min(22, chunk.body.count))
      case "SSND": data = chunk.body
      default: continue
      }
    }
    guard let common, let channels = common.big(at: 0, count: 2),
      let frames = common.big(at: 2, count: 4), let bits = common.big(at: 6, count: 2),
      let rate = common.extended(at: 8), rate >= 1, rate < 10_000_000
    else { throw .damaged(type, "has no valid COMM chunk") }
    let coding = AIFFCoding(isCompressed ? common.code(at: 18) ?? "" : "NONE", bits: bits)
    let samples = data.flatMap { body -> SampleLayout? in
      guard let format = coding.format, body.count >= 8 else { return nil }
      let skipped = source.octets(at: body.lowerBound, count: 4).big(at: 0, count: 4) ?? 0
      let start = body.lowerBound + min(8 + skipped, body.count)
      return SampleLayout(
        bytes: start..<body.upperBound, format: format, bytesPerSample: coding.bytesPerSample,
        isBigEndian: coding.isBigEndian, channels: channels)
    }
    // A packet of IMA 4:1 counts as one frame; and what is there counts, not what a cut file claims.
    let claimed = frames * (coding.codec == .ima4 ? 64 : 1)
    let held = samples.map { min(claimed, $0.frames) } ?? claimed
    return try Sound(
      type: type, codec: coding.codec, channels: channels, sampleRate: Int(rate),
      duration: Double(held) / rate, samples: samples)
  }
}

/// What the compression type of an AIFF-C file means.
private struct AIFFCoding {
  let codec: Codec
  let format: SampleLayout.Format?
  let bytesPerSample: Int
  let isBigEndian: Bool

  init(_ compression: String, bits: Int) {
    (codec, format) =
      switch compression {
      case "NONE", "twos", "sowt", "in24", "in32": (.pcm, .signedInteger)
      case "raw ": (.pcm, .unsignedInteger)
      case "fl32", "FL32", "fl64", "FL64": (.float, .float)
      case "alaw", "ALAW": (.alaw, .alaw)
      case "ulaw", "ULAW": (.ulaw, .ulaw)
      case "ima4": (.ima4, .ima4)
      default: (.other, nil)
      }
    bytesPerSample =
      switch codec {
      case .alaw, .ulaw: 1
      case .ima4: 34
      default: (bits + 7) / 8
      }
    isBigEndian = compression != "sowt"
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
