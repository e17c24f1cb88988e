import FoundationEssentials
import MediaTypes

/// What the publisher is told about a sound.
struct SoundFacts: Encodable {
  let contentType: String
  let codec: String
  let channels: Int
  /// Hertz.
  let sampleRate: Int
  /// Seconds, to the millisecond; left out where the file does not tell.
  let duration: Double?
  /// The loudest sample against full scale, in decibels; left out where no decoder for it is here.
  let peak: Double?
  /// Sentences about what a phone would not play, each with what to do.
  let advice: [String]?

  init(_ sound: Sound, _ levels: (any Levels)?, bytes: Int) throws {
    let loudness = try levels.map { try Loudness($0) }
    let advice = PhoneLimits.advice(on: sound, bytes: bytes) + (loudness?.advice ?? [])
    contentType = sound.type.value
    codec = sound.codec.rawValue
    channels = sound.channels
    sampleRate = sound.sampleRate
    duration = sound.duration > 0 ? (sound.duration * 1000).rounded() / 1000 : nil
    peak = loudness?.peak
    self.advice = advice.isEmpty ? nil : advice
  }
}
