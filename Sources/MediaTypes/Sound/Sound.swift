/// What a sound file says about itself: read from its headers, without decoding a sample.
package struct Sound: Sendable, Hashable {
  /// The container, by its bytes: `audio/wav`, `audio/mpeg`, `audio/mp4` and so on.
  package let type: MediaType
  /// How the samples are coded.
  package let codec: Codec
  /// How many channels; two is stereo.
  package let channels: Int
  /// Samples of one channel in a second (hertz).
  package let sampleRate: Int
  /// Seconds; 0 where the file does not tell (a live recording).
  package let duration: Double
  /// Where plain samples lie in the file; nil when the codec is not plain.
  package let samples: SampleLayout?

  /// Checks what a header claimed.
  init(
    type: MediaType, codec: Codec, channels: Int, sampleRate: Int, duration: Double,
    samples: SampleLayout? = nil
  ) throws(SoundError) {
    guard (1...255).contains(channels) else {
      throw .damaged(type, "claims \(channels) channels")
    }
    guard (1...2_000_000).contains(sampleRate) else {
      throw .damaged(type, "claims a sample rate of \(sampleRate) Hz")
    }
    guard duration.isFinite, duration >= 0 else { throw .damaged(type, "has no valid duration") }
    self.type = type
    self.codec = codec
    self.channels = channels
    self.sampleRate = sampleRate
    self.duration = duration
    self.samples = samples
  }

  /// Reads the facts of WAV, AIFF, CAF, MP3, MP4/M4A, AAC, FLAC, Ogg and AMR.
  ///
  /// Names are not asked; reads are small, and no size in the file is trusted.
  /// - Throws: `SoundError` when the bytes are no sound or a damaged one.
  package static func read(_ source: some ByteSource) throws(SoundError) -> Sound {
    switch MediaType.sniff(source: source).value {
    case "audio/wav": try wav(source)
    case "audio/aiff": try aiff(source)
    case "audio/x-caf": try caf(source)
    case "audio/mpeg": try mp3(source)
    case "audio/aac": try adts(source)
    case "audio/flac": try flac(source)
    case "audio/ogg": try ogg(source)
    case "audio/amr", "audio/amr-wb": try amr(source)
    case "audio/mp4", "video/mp4", "video/3gpp", "video/quicktime": try mp4(source)
    default:
      throw SoundError(
        code: .notSound,
        reason: source.size == 0
          ? "The file is empty." : FileKind(source).refusal(accepting: ["audio/*"]))
    }
  }
}
