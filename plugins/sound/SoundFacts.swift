import MediaTypes
import Primitives

/// The facts about a sound for its publisher.
struct SoundFacts {
  let contentType: String
  let codec: String
  let channels: Int
  /// Hertz.
  let sampleRate: Int
  /// Seconds, to the millisecond; left out when that cannot be measured.
  let duration: Double?
  /// The loudest sample against full scale, in decibels; left out when there is no decoder for it.
  let peak: Double?
  /// Sentences about what phones do not play, each with what to do.
  let advice: [String]?

  init(_ sound: Sound, _ levels: (any Levels)?, bytes: Int) throws {
    let loudness = try levels.map { try Loudness($0) }
    let advice = PhoneAdvice(on: sound, bytes: bytes).sentences + (loudness?.advice ?? [])
    contentType = sound.type.value
    codec = sound.codec.rawValue
    channels = sound.channels
    sampleRate = sound.sampleRate
    duration = sound.duration.map { ($0 * 1000).rounded() / 1000 }
    peak = loudness?.peak
    self.advice = advice.isEmpty ? nil : advice
  }

  /// The facts as a JSON object.
  var json: String {
    JSONText.object([
      "advice": advice.map(JSONText.array), "channels": "\(channels)",
      "codec": JSONText.quoted(codec), "contentType": JSONText.quoted(contentType),
      "duration": duration.map(JSONText.number), "peak": peak.map(JSONText.number),
      "sampleRate": "\(sampleRate)",
    ])
  }
}
