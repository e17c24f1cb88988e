// The containers that mostly hold uncompressed samples: AIFF and Core Audio.

extension Sound {
  /// Audio Interchange File Format, plain and AIFF-C (Apple, 1989 and 1991).
  static func aiff(_ source: some ByteSource) throws(SoundError) -> Sound {
    let type = MediaType(known: "audio/aiff")
    let isCompressed = source.octets(at: 8, count: 4).code(at: 0) == "AIFC"
    var common = Octets(bytes: [])
    var data: Range<Int>?
    for chunk in Chunks(source, from: 12, layout: .iff) {
      switch chunk.id {
      case "COMM" where common.count == 0: common = source.octets(chunk.body.prefix(22))
      case "SSND" where data == nil:
        // A program that pipes does not know the size: it leaves out that of the samples.
        data = chunk.body.count > 8 ? chunk.body : chunk.openEnd(in: source, layout: .iff)
      default: continue
      }
    }
    guard let channels = common.big(at: 0, count: 2),
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
    return try Sound(
      type: type, codec: codec, channels: channels, sampleRate: Int(rate),
      duration: samples.map { Double($0.frames) / rate } ?? (data == nil ? 0 : nil),
      samples: samples)
  }

  /// Apple Core Audio Format (Core Audio Format Specification 1.0).
  static func caf(_ source: some ByteSource) throws(SoundError) -> Sound {
    let type = MediaType(known: "audio/x-caf")
    var description = Octets(bytes: [])
    var counts: CAFCounts?
    var table: Range<Int>?
    var data: Range<Int>?
    for chunk in Chunks(source, from: 8, layout: .caf) {
      switch chunk.id {
      case "desc": description = source.octets(chunk.body.prefix(32))
      case "pakt":
        counts = CAFCounts(source.octets(chunk.body.prefix(24)))
        table = chunk.body.dropFirst(24)
      case "data" where data == nil:
        data =
          (chunk.body.count > 4 ? chunk.body : chunk.openEnd(in: source, layout: .caf))
          .dropFirst(4)
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
    let frames: Double? =
      if let samples {
        Double(samples.frames)
      } else if framesPerPacket == 0 {
        nil
      } else if bytesPerPacket > 0 {
        Double(data.count / bytesPerPacket) * Double(framesPerPacket)
      } else {
        table.flatMap { table in
          let frames = CAFPackets(source, table, data: data).count()
            .multipliedReportingOverflow(by: framesPerPacket)
          guard !frames.overflow else { return nil }
          return Double(counts?.valid(of: frames.partialValue) ?? frames.partialValue)
        }
      }
    return try Sound(
      type: type, codec: codec, channels: channels, sampleRate: Int(sampleRate),
      duration: frames.map { $0 / sampleRate }, samples: samples)
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
