import MediaTypes
import Primitives

/// The facts about a sound for its publisher.
struct SoundFacts {
  let contentType: String
  let codec: String
  let channels: Int
  /// Hertz.
  let sampleRate: Int
  /// Seconds, to the millisecond; left out when the file does not say.
  let duration: Double?
  /// The loudest sample against full scale, in decibels; left out when there is no decoder for it.
  let peak: Double?
  /// Sentences about what phones do not play, each with what to do.
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

/// The sounds that iOS plays in a notification (UNNotificationAttachment and UNNotificationSound).
enum PhoneLimits {
  private static let attachmentBytes = 5_000_000
  private static let attachmentTypes: Set = ["audio/aiff", "audio/wav", "audio/mpeg", "audio/mp4"]
  private static let alertSeconds = 30.0
  /// Containers of alert sounds; MP3 and M4A never are.
  private static let alertTypes: Set = ["audio/aiff", "audio/wav", "audio/x-caf"]
  private static let alertCodecs: Set<Codec> = [.pcm, .ima4, .ulaw, .alaw]
  private static let compactCodecs: Set<Codec> = [.aac, .mp3, .opus, .vorbis]

  /// What a phone would not play, and what to do; empty for a sound that it plays.
  static func advice(on sound: Sound, bytes: Int) -> [String] {
    var advice: [String] = []
    let name = sound.type.fileExtension.uppercased()
    let isAttachable = attachmentTypes.contains(sound.type.value)
    if !isAttachable {
      advice.append("iPhones don't play \(name) in a notification. Save it as M4A.")
    }
    if bytes > attachmentBytes {
      let remedy =
        if !isAttachable {
          ""
        } else if compactCodecs.contains(sound.codec) {
          " Make it shorter, or save it with a lower quality."
        } else {
          " Save it as M4A."
        }
      advice.append("Too big for iPhones: \(megabytes(bytes)) MB, the limit is 5 MB.\(remedy)")
    }
    if alertTypes.contains(sound.type.value) {
      if !alertCodecs.contains(sound.codec) {
        advice.append("Not usable as the alert sound itself. For that, save it as a 16-bit WAV.")
      } else if sound.duration > alertSeconds {
        advice.append("Too long for the alert sound itself, which has 30 seconds at most.")
      }
    }
    if sound.duration == 0 {
      advice.append("The file doesn't say how long the sound is. Export it again.")
    }
    return advice
  }

  /// Megabytes with one decimal, rounded up, so that a file over 5 MB never has 5.0.
  private static func megabytes(_ bytes: Int) -> String {
    let tenths = (bytes + 99_999) / 100_000
    return "\(tenths / 10).\(tenths % 10)"
  }
}
