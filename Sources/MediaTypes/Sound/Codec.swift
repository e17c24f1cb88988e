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
