extension Sound {
  /// RIFF WAVE (IBM and Microsoft, 1991), also as RF64 and BW64 (EBU Tech 3306).
  static func wav(_ source: some ByteSource) throws(SoundError) -> Sound {
    let type = MediaType(known: "audio/wav")
    var format = Octets(bytes: [])
    var data: Range<Int>?
    var longSize: Int?
    for chunk in Chunks(source, from: 12, layout: .riff) {
      switch chunk.id {
      case "ds64": longSize = source.octets(chunk.body.prefix(16)).little(at: 8, count: 8)
      case "fmt " where format.count == 0: format = source.octets(chunk.body.prefix(40))
      case "data" where data == nil:
        // A program that pipes does not know the size: it leaves the one that it began with.
        data = chunk.body.isEmpty ? chunk.openEnd(in: source, layout: .riff) : chunk.body
        if let longSize, longSize > 0 { data = data?.prefix(longSize) }
      default: continue
      }
      if data != nil, format.count > 0 { break }
    }
    guard let data else { throw .damaged(type, "has no samples") }
    guard let form = WAVForm(format) else {
      throw .damaged(type, "does not say the format of its samples")
    }
    guard form.sampleRate > 0 else { throw .damaged(type, "claims a sample rate of 0 Hz") }
    let samples = form.layout(of: data)
    return try Sound(
      type: type, codec: form.codec, channels: form.channels, sampleRate: form.sampleRate,
      duration: samples.map { Double($0.frames) / Double(form.sampleRate) }
        ?? form.seconds(of: data, in: source),
      samples: samples)
  }
}

extension Chunk {
  /// The content up to the end of the file, unless chunks follow what the size covers.
  func openEnd<Source: ByteSource>(in source: Source, layout: Chunks<Source>.Layout) -> Range<Int> {
    let rest = Chunks(source, from: body.upperBound, layout: layout)
    let areChunks = rest.allSatisfy { $0.id.utf8.allSatisfy { (0x20...0x7E).contains($0) } }
    return areChunks ? body : body.lowerBound..<source.size
  }
}

/// The content of the `fmt ` chunk (WAVEFORMATEX and WAVEFORMATEXTENSIBLE).
struct WAVForm {
  let codec: Codec
  let channels: Int
  /// Hertz.
  let sampleRate: Int
  private let bits: Int
  /// Bytes that are decoded together.
  private let block: Int

  init?(_ octets: Octets) {
    guard let tag = octets.little(at: 0, count: 2), let channels = octets.little(at: 2, count: 2),
      let sampleRate = octets.little(at: 4, count: 4), let block = octets.little(at: 12, count: 2),
      let bits = octets.little(at: 14, count: 2)
    else { return nil }
    let isExtensible = tag == 0xFFFE
    codec = Self.codecs[(isExtensible ? octets.little(at: 24, count: 2) : tag) ?? 0] ?? .other
    (self.channels, self.sampleRate, self.block, self.bits) = (channels, sampleRate, block, bits)
  }

  private static let codecs: [Int: Codec] = [
    1: .pcm, 2: .msADPCM, 3: .float, 6: .alaw, 7: .ulaw, 0x11: .imaADPCM, 0x31: .gsm,
    0x50: .mp2, 0x55: .mp3, 0xFF: .aac, 0x1610: .aac, 0x2000: .ac3, 0x2001: .dts,
  ]

  /// Where the samples are, if they are not compressed.
  func layout(of data: Range<Int>) -> SampleLayout? {
    SampleLayout(
      bytes: data, codec: codec, isUnsigned: bits <= 8, bytesPerSample: (bits + 7) / 8,
      isBigEndian: false, channels: channels)
  }

  /// The length of compressed samples by their blocks or frames; nil for a codec that is not known.
  func seconds(of data: Range<Int>, in source: some ByteSource) -> Double? {
    switch codec {
    case .mp2, .mp3: return MPEGMeasure(ByteRange(source, data), from: 0)?.duration
    case .pcm, .float:
      guard block > 0 else { return nil }
      return Double(data.count / block) / Double(sampleRate)
    case .imaADPCM, .msADPCM, .gsm:
      guard block > 0, let samples = samplesOfBlock(block) else { return nil }
      let rest = samplesOfBlock(data.count % block) ?? 0
      return Double(data.count / block * samples + rest) / Double(sampleRate)
    default: return nil
    }
  }

  /// Samples of each channel in a block of so many bytes; nil when it has no whole head.
  private func samplesOfBlock(_ bytes: Int) -> Int? {
    // The first samples stand in the head of a block, one (IMA) or two (Microsoft) of each channel.
    let (head, first) = codec == .imaADPCM ? (4 * channels, 1) : (7 * channels, 2)
    switch codec {
    case .gsm: return bytes == 65 ? 320 : nil
    default:
      guard channels > 0, bytes >= head else { return nil }
      return (bytes - head) * 8 / (bits == 4 || bits == 0 ? 4 : bits) / channels + first
    }
  }
}
