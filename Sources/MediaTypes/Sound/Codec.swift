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
  /// A codec that this room does not know.
  case other
}

/// Where plain samples lie in a file and how each is written.
package struct SampleLayout: Sendable, Hashable {
  /// How a sample is written.
  package enum Format: Sendable {
    /// Whole numbers around 128.
    case unsignedInteger
    /// Whole numbers around 0.
    case signedInteger
    /// IEEE 754 numbers between -1 and 1.
    case float
    /// One byte of G.711, European curve.
    case alaw
    /// One byte of G.711, American curve.
    case ulaw
  }

  /// The stretch of the file, whole frames only.
  package let bytes: Range<Int>
  /// How a sample is written.
  package let format: Format
  /// 1, 2, 3, 4 or 8.
  package let bytesPerSample: Int
  /// Whether the most significant byte comes first.
  package let isBigEndian: Bool
  /// Samples that belong to one instant.
  package let channels: Int

  /// A layout cut to whole frames; nil for a width that no format has.
  init?(
    bytes: Range<Int>, format: Format, bytesPerSample: Int, isBigEndian: Bool, channels: Int
  ) {
    let widths: Set =
      switch format {
      case .alaw, .ulaw, .unsignedInteger: [1]
      case .signedInteger: [1, 2, 3, 4]
      case .float: [4, 8]
      }
    guard widths.contains(bytesPerSample), (1...255).contains(channels) else { return nil }
    let frame = bytesPerSample * channels
    self.bytes = bytes.lowerBound..<bytes.lowerBound + bytes.count / frame * frame
    self.format = format
    self.bytesPerSample = bytesPerSample
    self.isBigEndian = isBigEndian
    self.channels = channels
  }

  /// How many instants were sampled.
  package var frames: Int { bytes.count / (bytesPerSample * channels) }
}
