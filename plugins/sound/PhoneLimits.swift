import MediaTypes

/// What iOS plays of a notification (UNNotificationAttachment and UNNotificationSound).
enum PhoneLimits {
  private static let attachmentBytes = 5_000_000
  private static let attachmentTypes: Set = ["audio/aiff", "audio/wav", "audio/mpeg", "audio/mp4"]
  private static let alertSeconds = 30.0
  private static let alertTypes: Set = ["audio/aiff", "audio/wav", "audio/x-caf"]
  private static let alertCodecs: Set<Codec> = [.pcm, .ima4, .ulaw, .alaw]

  /// What would go wrong on a phone, and how to mend it.
  static func advice(on sound: Sound, bytes: Int) -> [String] {
    var advice: [String] = []
    let name = sound.type.fileExtension.uppercased()
    if !attachmentTypes.contains(sound.type.value) {
      advice.append(
        "iOS attaches AIFF, WAV, MP3 and M4A, not \(name); "
          + "convert it: ffmpeg -i in -c:a aac out.m4a")
    }
    if bytes > attachmentBytes {
      advice.append(
        "iOS attaches sounds of at most 5 MB and this one has \(megabytes(bytes)) MB; "
          + "make it smaller: ffmpeg -i in -c:a aac -b:a 96k out.m4a")
    }
    if !alertTypes.contains(sound.type.value) || !alertCodecs.contains(sound.codec) {
      advice.append(
        "It plays when opened, not as the alert itself: iOS takes PCM, IMA4, µ-law or A-law "
          + "in WAV, AIFF or CAF for that, and this is \(sound.codec.rawValue) in \(name); "
          + "convert it: ffmpeg -i in -t 30 -c:a pcm_s16le out.wav")
    } else if sound.duration > alertSeconds {
      advice.append(
        "It plays when opened, not as the alert itself: "
          + "iOS plays its default sound instead of one that is longer than 30 seconds; "
          + "cut it: ffmpeg -i in -t 30 -c copy out.\(sound.type.fileExtension)")
    }
    if sound.duration == 0 { advice.append("The file does not tell how long it is.") }
    return advice
  }

  private static func megabytes(_ bytes: Int) -> String {
    "\(bytes / 1_000_000).\(bytes / 100_000 % 10)"
  }
}
