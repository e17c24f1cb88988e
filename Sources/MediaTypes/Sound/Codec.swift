/// How samples are coded.
package enum Codec: String, Sendable, Hashable {
  /// Linear PCM, as integers.
  case pcm
  /// Linear PCM, as floating-point numbers.
  case float
  /// ITU-T G.711 with the European curve.
  case alaw
  /// ITU-T G.711 with the American curve.
  case ulaw
  /// IMA 4:1 ADPCM as Apple stores it, also called MA4.
  case ima4
  /// IMA ADPCM as Microsoft stores it.
  case imaADPCM = "ima-adpcm"
  /// Microsoft ADPCM.
  case msADPCM = "ms-adpcm"
  /// MPEG audio layer III.
  case mp3
  /// MPEG audio layer I or II.
  case mp2
  /// Advanced Audio Coding, any profile.
  case aac
  /// Apple Lossless.
  case alac
  /// Free Lossless Audio Codec.
  case flac
  /// Opus (RFC 6716).
  case opus
  /// Vorbis I.
  case vorbis
  /// Speex.
  case speex
  /// Adaptive Multi-Rate, narrow or wide band.
  case amr
  /// GSM 06.10, full rate.
  case gsm
  /// Dolby Digital.
  case ac3 = "ac-3"
  /// Dolby Digital Plus.
  case eac3 = "e-ac-3"
  /// Dolby AC-4.
  case ac4 = "ac-4"
  /// Apple Positional Audio Codec.
  case apac
  /// MPEG-H 3D Audio.
  case mpegh = "mpeg-h"
  /// DTS of any kind.
  case dts
  /// An unknown codec.
  case other

  /// The codec of a four-character code in MP4, QuickTime, AIFF-C and Core Audio files.
  init(code: String?) { self = Self.codes[code ?? ""] ?? .other }

  private static let codes: [String: Codec] = [
    "NONE": .pcm, "twos": .pcm, "sowt": .pcm, "in24": .pcm, "in32": .pcm, "raw ": .pcm,
    "lpcm": .pcm, "fl32": .float, "FL32": .float, "fl64": .float, "FL64": .float,
    "alaw": .alaw, "ALAW": .alaw, "ulaw": .ulaw, "ULAW": .ulaw, "ima4": .ima4,
    "mp4a": .aac, "aac ": .aac, "aach": .aac, "aacl": .aac, "aacp": .aac, "aace": .aac,
    "alac": .alac, ".mp3": .mp3, ".mp2": .mp2, ".mp1": .mp2, "Opus": .opus, "opus": .opus,
    "fLaC": .flac, "flac": .flac, "samr": .amr, "sawb": .amr, "GSM ": .gsm, "agsm": .gsm,
    "ms\0\u{2}": .msADPCM, "ms\0\u{11}": .imaADPCM, "ms\0\u{31}": .gsm, "ms\0U": .mp3,
    "ac-3": .ac3, "ec-3": .eac3, "ac-4": .ac4, "apac": .apac, "mha1": .mpegh, "mha2": .mpegh,
    "mhm1": .mpegh, "mhm2": .mpegh, "dtsc": .dts, "dtse": .dts, "dtsh": .dts, "dtsl": .dts,
    "dtsx": .dts,
  ]
}

/// Where uncompressed samples are in a file, and how each is written.
package struct SampleLayout: Sendable, Hashable {
  /// The range of the file, whole frames only.
  package let bytes: Range<Int>
  /// Linear PCM, G.711, or IMA 4:1, which has packets of 34 bytes with 64 samples of one channel.
  package let codec: Codec
  /// Whether integers are around 128 instead of 0.
  package let isUnsigned: Bool
  /// 1, 2, 3, 4 or 8; with IMA 4:1 the 34 bytes of a packet.
  package let bytesPerSample: Int
  /// Whether the most significant byte comes first.
  package let isBigEndian: Bool
  /// Samples that belong to one instant.
  package let channels: Int

  /// A layout cut to whole frames; nil for other codecs, and for a width that the codec does not have.
  init?(
    bytes: Range<Int>, codec: Codec, isUnsigned: Bool = false, bytesPerSample: Int,
    isBigEndian: Bool, channels: Int
  ) {
    let widths: Set<Int> =
      switch codec {
      case .alaw, .ulaw: [1]
      case .pcm: isUnsigned ? [1] : [1, 2, 3, 4]
      case .float: [4, 8]
      case .ima4: [34]
      default: []
      }
    guard widths.contains(bytesPerSample), (1...255).contains(channels) else { return nil }
    let frame = bytesPerSample * channels
    self.bytes = bytes.prefix(bytes.count / frame * frame)
    (self.codec, self.isUnsigned, self.bytesPerSample) = (codec, isUnsigned, bytesPerSample)
    (self.isBigEndian, self.channels) = (isBigEndian, channels)
  }

  /// How many instants were sampled.
  package var frames: Int { bytes.count / (bytesPerSample * channels) * framesPerUnit }

  /// How many instants the smallest readable unit has: 64 in a packet of IMA 4:1, else one.
  package var framesPerUnit: Int { codec == .ima4 ? 64 : 1 }
}
