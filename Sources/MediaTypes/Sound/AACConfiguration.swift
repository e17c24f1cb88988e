/// An AudioSpecificConfig: how an AAC stream is coded (ISO 14496-3 section 1.6.2.1).
struct AACConfiguration {
  /// The audio object type: 2 is AAC LC, 5 and 29 are HE-AAC, 42 is xHE-AAC.
  let object: Int
  /// Two when the stream says it elsewhere.
  let channels: Int
  /// Hertz, as the stream plays.
  let sampleRate: Int
  /// Hertz of a packet's samples, half of `sampleRate` with spectral band replication.
  let coreRate: Int
  /// Samples of `coreRate` in a packet; nil for objects that say it further on.
  let packetSamples: Int?

  /// Nil for a reserved rate, or when the bits end too early.
  init?(_ bytes: [UInt8]) {
    var bits = BitReader(bytes)
    guard let object = Self.object(&bits), let rate = Self.rate(&bits),
      let configuration = bits.read(4)
    else { return nil }
    self.object = object
    coreRate = rate
    channels = object == 29 ? 2 : AACProfile.channels(configuration: configuration)
    var core = object
    if object == 5 || object == 29 {
      // With spectral band replication the stream plays at the rate that follows.
      sampleRate = Self.rate(&bits) ?? rate
      core = Self.object(&bits) ?? 2
    } else {
      sampleRate = rate
    }
    // A packet is one sixteenth shorter when the first bit of a GASpecificConfig is set.
    let isShort = bits.read(1) == 1
    switch core {
    case 1...4, 6, 7, 17, 19, 20, 22: packetSamples = isShort ? 960 : 1024
    case 23, 39: packetSamples = isShort ? 480 : 512
    default: packetSamples = nil
    }
  }

  private static func object(_ bits: inout BitReader) -> Int? {
    guard let object = bits.read(5) else { return nil }
    return object == 31 ? bits.read(6).map { 32 + $0 } : object
  }

  private static func rate(_ bits: inout BitReader) -> Int? {
    guard let index = bits.read(4) else { return nil }
    guard index == 15 else { return AACProfile.sampleRate(index: index) }
    return bits.read(24).flatMap { $0 > 0 ? $0 : nil }
  }
}

/// The tables that all forms of AAC share (ISO 14496-3 section 1.6.3).
enum AACProfile {
  /// Hertz for a frequency index; nil for the reserved ones.
  static func sampleRate(index: Int) -> Int? {
    rates.indices.contains(index) ? rates[index] : nil
  }

  private static let rates = [
    96000, 88200, 64000, 48000, 44100, 32000, 24000, 22050, 16000, 12000, 11025, 8000, 7350,
  ]

  /// Channels for a channel configuration; two when the stream says it elsewhere.
  static func channels(configuration: Int) -> Int {
    [2, 1, 2, 3, 4, 5, 6, 8][configuration & 7]
  }
}

/// Reads numbers of any width, the most significant bit first.
struct BitReader {
  private let bytes: [UInt8]
  private var position = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// The next `count` bits; nil when there are fewer.
  mutating func read(_ count: Int) -> Int? {
    guard position + count <= 8 * bytes.count else { return nil }
    defer { position += count }
    return (position..<position + count).reduce(0) { value, place in
      value << 1 | Int(bytes[place / 8]) >> (7 - place % 8) & 1
    }
  }
}
