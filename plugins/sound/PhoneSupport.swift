import MediaTypes

/// Which sounds Apple and Google document for their phones; docs/SOUNDS.md has the table with its sources.
enum PhoneSupport {
  /// The containers that iOS attaches to a notification (UNNotificationAttachment), with the codecs in each that iOS
  /// plays.
  private static let iPhone: [String: Set<Codec>] = [
    "audio/aiff": [.pcm, .float, .ulaw, .alaw, .ima4], "audio/wav": [.pcm, .float, .ulaw, .alaw],
    "audio/mpeg": [.mp3], "audio/mp4": [.aac, .alac],
  ]

  /// “Supported media formats”, of Android's phones.
  private static let android: [String: Set<Codec>] = [
    "audio/wav": [.pcm], "audio/mpeg": [.mp3], "audio/mp4": [.aac, .amr, .flac, .mp3, .vorbis],
    "audio/aac": [.aac], "audio/amr": [.amr], "audio/amr-wb": [.amr], "audio/flac": [.flac],
    "audio/ogg": [.opus, .vorbis],
  ]

  /// Containers of alert sounds (UNNotificationSound); MP3 and M4A never are.
  private static let alert: Set = ["audio/aiff", "audio/wav", "audio/x-caf"]
  private static let alertCodecs: Set<Codec> = [.pcm, .ima4, .ulaw, .alaw]

  /// Whether iOS takes files of this container, whatever is in them.
  static func attaches(_ sound: Sound) -> Bool { iPhone[sound.type.value] != nil }

  static func iPhonePlays(_ sound: Sound) -> Bool {
    iPhone[sound.type.value]?.contains(sound.codec) == true
  }

  /// Of uncompressed sound, Android documents 8 to 24 bits.
  static func androidPlays(_ sound: Sound) -> Bool {
    android[sound.type.value]?.contains(sound.codec) == true
      && (sound.samples?.bytesPerSample ?? 1) <= 3
  }

  /// Whether the container may be an alert sound, and then whether this one can be.
  static func alerts(with sound: Sound) -> Bool? {
    alert.contains(sound.type.value) ? alertCodecs.contains(sound.codec) : nil
  }
}

extension Sound {
  /// What its coding is called by people; nil when only the kind of file has a name.
  fileprivate var codingName: String? {
    switch codec {
    case .alac: "Apple Lossless"
    case .ac3: "Dolby Digital"
    case .eac3: "Dolby Digital Plus"
    case .ac4: "Dolby AC-4"
    case .apac: "Apple's spatial audio (APAC)"
    case .mpegh: "MPEG-H"
    case .dts: "DTS"
    case .amr: "AMR"
    case .flac: "FLAC"
    case .opus: "Opus"
    case .vorbis: "Vorbis"
    case .mp2: "MP2"
    case .gsm: "GSM"
    default: nil
    }
  }
}

/// What phones would not play, and what to do.
struct PhoneAdvice {
  /// Empty for a sound that all phones play.
  let sentences: [String]

  private static let attachmentBytes = 5_000_000
  private static let alertSeconds = 30.0
  private static let compactCodecs: Set<Codec> = [.aac, .mp3, .opus, .vorbis, .amr]

  init(on sound: Sound, bytes: Int) {
    var advice: [String] = []
    let file = sound.type.fileExtension.uppercased()
    let remedy = Self.remedy(for: sound)
    let isAttachable = PhoneSupport.attaches(sound)
    let isStream = sound.type.value == "audio/mpeg"
    let what =
      sound.codingName.map { isStream ? $0 : "\($0) in this \(file)" } ?? "this kind of \(file)"
    switch (isAttachable, PhoneSupport.iPhonePlays(sound), PhoneSupport.androidPlays(sound)) {
    case (false, _, _):
      advice.append("iPhones don't play \(file) in a notification. \(remedy)")
    case (true, false, false): advice.append("Most phones don't play \(what). \(remedy)")
    case (true, false, true): advice.append("iPhones don't play \(what). \(remedy)")
    case (true, true, false):
      let what = sound.type.value == "audio/aiff" ? file : what
      advice.append("Android phones may not play \(what). \(remedy)")
    case (true, true, true): break
    }
    if bytes > Self.attachmentBytes {
      let way =
        if !isAttachable {
          ""
        } else if Self.compactCodecs.contains(sound.codec) {
          " Make it shorter, or save it with a lower quality."
        } else {
          " \(remedy)"
        }
      advice.append("Too big for iPhones: \(Self.megabytes(bytes)) MB, the limit is 5 MB.\(way)")
    }
    if let isUsable = PhoneSupport.alerts(with: sound) {
      if !isUsable {
        advice.append("Not usable as the alert sound itself. For that, save it as a 16-bit WAV.")
      } else if let duration = sound.duration, duration > Self.alertSeconds {
        advice.append("Too long for the alert sound itself, which has 30 seconds at most.")
      }
    }
    if sound.duration == 0 {
      advice.append("There is no sound in the file. Record or export it again.")
    } else if sound.duration == nil, advice.isEmpty {
      advice.append("It cannot be told how long this sound is. \(remedy)")
    }
    sentences = advice
  }

  /// Why there is no picture of a sound.
  static func waveformRefusal(of sound: Sound) -> String {
    if sound.isTooLongToDecode {
      return "No waveform can be drawn of this sound. Save a part of it, of 20 minutes at most."
    }
    let way =
      sound.type.value == "audio/mp4" || sound.codec == .aac
      ? "Save it as an MP3 of 20 minutes at most." : "Save it as an M4A of 20 minutes at most."
    return "No waveform can be drawn of this sound. \(way)"
  }

  /// What to do with a sound that is not played; never the kind that it is already.
  private static func remedy(for sound: Sound) -> String {
    switch sound.type.value {
    case "audio/mp4": sound.codec == .aac ? "Save it as MP3." : "Save it as AAC or MP3."
    default: "Save it as M4A."
    }
  }

  /// Megabytes with one decimal, rounded up, so that a file over 5 MB never has 5.0.
  private static func megabytes(_ bytes: Int) -> String {
    let tenths = (bytes + 99_999) / 100_000
    return "\(tenths / 10).\(tenths % 10)"
  }
}
