import MediaTypes

/// What iOS plays of a notification (UNNotificationAttachment and UNNotificationSound).
enum PhoneLimits {
  private static let attachmentBytes = 5_000_000
  private static let attachmentTypes: Set = ["audio/aiff", "audio/wav", "audio/mpeg", "audio/mp4"]
  private static let alertSeconds = 30.0
  /// Containers of which people expect that they are alert sounds; MP3 and M4A never are.
  private static let alertTypes: Set = ["audio/aiff", "audio/wav", "audio/x-caf"]
  private static let alertCodecs: Set<Codec> = [.pcm, .ima4, .ulaw, .alaw]
  private static let compactCodecs: Set<Codec> = [.aac, .mp3, .opus, .vorbis]

  /// What would go wrong on a phone, and what to do; nothing for a sound that plays as it is.
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

  /// Megabytes with one decimal, rounded up: 5.0 is never said of a file that is over 5 MB.
  private static func megabytes(_ bytes: Int) -> String {
    let tenths = (bytes + 99_999) / 100_000
    return "\(tenths / 10).\(tenths % 10)"
  }
}
