/// The facts about a sound file; no sample is decoded.
package struct Sound: Sendable, Hashable {
  /// The container, by its bytes: `audio/wav`, `audio/mpeg`, `audio/mp4` and so on.
  package let type: MediaType
  /// How the samples are coded.
  package let codec: Codec
  /// How many channels; two is stereo.
  package let channels: Int
  /// Samples of one channel in a second (hertz).
  package let sampleRate: Int
  /// Seconds, measured on the file; nil when that cannot be done.
  package let duration: Double?
  /// Where uncompressed samples are in the file; nil when they are compressed.
  package let samples: SampleLayout?

  /// Checks what a header says.
  init(
    type: MediaType, codec: Codec, channels: Int, sampleRate: Int, duration: Double?,
    samples: SampleLayout? = nil
  ) throws(SoundError) {
    guard (1...255).contains(channels) else {
      throw .damaged(type, "claims \(channels) channels")
    }
    guard (1...2_000_000).contains(sampleRate) else {
      throw .damaged(type, "claims a sample rate of \(sampleRate) Hz")
    }
    if let duration, !duration.isFinite || duration < 0 {
      throw .damaged(type, "has no valid duration")
    }
    (self.type, self.codec, self.channels) = (type, codec, channels)
    (self.sampleRate, self.duration, self.samples) = (sampleRate, duration, samples)
  }

  /// Reads the facts of WAV, AIFF, CAF, MP3, MP4/M4A, AAC, FLAC, Ogg and AMR.
  ///
  /// Names are ignored, and no size in the file is trusted. A stream of frames or pages is read as a
  /// whole, a stretch at a time.
  /// - Throws: `SoundError` when the file is not a sound, or a damaged one.
  package static func read(_ source: some ByteSource) throws(SoundError) -> Sound {
    switch MediaType.sniff(source).value {
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
        reason: source.size == 0
          ? "The file is empty." : FileKind(source).refusal(accepting: ["audio/*"]))
    }
  }
}

/// Why a file is not a sound that can be described.
package struct SoundError: Error, Sendable, Hashable, CustomStringConvertible {
  /// A sentence for the person who sent the file.
  package let reason: String

  /// What exactly is wrong, for a log; nil when the reason says it all.
  package var detail: String?

  /// The reason, which is written for people.
  package var description: String { reason }

  /// A file that ends too early; `detail` is for a log.
  static func incomplete(_ detail: String) -> SoundError {
    SoundError(reason: "This sound is incomplete. Copy or export it again.", detail: detail)
  }

  /// A damaged file; `what` continues "the file …".
  static func damaged(_ type: MediaType, _ what: String) -> SoundError {
    let name = type.fileExtension.uppercased()
    return SoundError(
      reason: "This \(name) is damaged. Export it again.", detail: "the \(name) file \(what)")
  }
}
