import FoundationEssentials
import MediaTypes
import PluginKit

/// What the publisher is told about a sound.
struct SoundFacts: Encodable {
  let contentType: String
  let codec: String
  let channels: Int
  /// Hertz.
  let sampleRate: Int
  /// Seconds, to the millisecond; left out where the file does not tell.
  let duration: Double?
  /// Sentences about what a phone would not play, each with what to do.
  let advice: [String]?

  init(_ sound: Sound, bytes: Int) {
    let advice = PhoneLimits.advice(on: sound, bytes: bytes)
    contentType = sound.type.value
    codec = sound.codec.rawValue
    channels = sound.channels
    sampleRate = sound.sampleRate
    duration = sound.duration > 0 ? (sound.duration * 1000).rounded() / 1000 : nil
    self.advice = advice.isEmpty ? nil : advice
  }
}

extension PluginResponse {
  /// Answers with a value as JSON, its members in the order of their names.
  static func json(_ value: some Encodable) throws -> PluginResponse {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return try .json(String(decoding: encoder.encode(value), as: UTF8.self))
  }
}
