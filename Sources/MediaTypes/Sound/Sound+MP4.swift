extension Sound {
  /// ISO base media (ISO 14496-12): the first sound track of MP4, M4A, 3GP and QuickTime.
  static func mp4(_ source: some ByteSource) throws(SoundError) -> Sound {
    let type = MediaType(known: "audio/mp4")
    let boxes = Boxes(source, in: 0..<source.size)
    guard let movie = boxes["moov"] else {
      throw SoundError(
        code: .damaged, reason: "This sound is incomplete. Copy or export it again.",
        detail: "no moov box")
    }
    let tracks = movie.all("trak").compactMap { $0["mdia"] }
    if Set(["soun", "vide"]).isSubset(of: tracks.map(\.handler)) {
      throw SoundError(
        code: .notSound,
        reason: "This is a film, not a sound. Export its sound as M4A.")
    }
    for media in tracks {
      guard media.handler == "soun", let entries = media["minf"]?["stbl"]?["stsd"],
        case let entry = entries.octets(64), entry.count >= 44
      else { continue }
      let (length, scale) = media["mdhd"].flatMap(timing) ?? (0, 1)
      let fragments = movie["mvex"]?["mehd"].flatMap { fragmentLength($0) }
      let movieScale = movie["mvhd"].flatMap(timing)?.scale ?? 1
      let seconds =
        length > 0
        ? Double(length) / Double(scale) : Double(fragments ?? 0) / Double(movieScale)
      let sample = SampleEntry(entry, in: media)
      let stream = ElementaryStream(in: entries)
      return try Sound(
        type: type, codec: stream?.codec ?? sample.codec,
        channels: stream?.channels ?? sample.channels,
        sampleRate: stream?.sampleRate ?? sample.rate, duration: seconds)
    }
    throw SoundError(
      code: .notSound, reason: "This file has no sound in it. Drop an M4A, MP3, WAV or AIFF.")
  }

  /// The length and its units a second, in `mvhd` and `mdhd` of either version.
  private static func timing(_ box: Boxes<some ByteSource>) -> (length: Int, scale: Int)? {
    let octets = box.octets(32)
    let isLong = octets[0] == 1
    guard let scale = octets.big(at: isLong ? 20 : 12, count: 4), scale > 0,
      let length = octets.big(at: isLong ? 24 : 16, count: isLong ? 8 : 4)
    else { return nil }
    return (length == 0xFFFF_FFFF ? 0 : length, scale)
  }

  private static func fragmentLength(_ box: Boxes<some ByteSource>) -> Int? {
    let octets = box.octets(12)
    return octets.big(at: 4, count: octets[0] == 1 ? 8 : 4)
  }
}

/// The first entry of a sound track's `stsd` box (ISO 14496-12 section 12.2.3).
private struct SampleEntry {
  let codec: Codec
  let channels: Int
  let rate: Int

  init(_ box: Octets, in media: Boxes<some ByteSource>) {
    codec =
      switch box.code(at: 12) {
      case "mp4a": .aac
      case "alac": .alac
      case ".mp3": .mp3
      case "samr", "sawb": .amr
      case "Opus": .opus
      case "fLaC": .flac
      case "sowt", "twos", "lpcm", "in24", "in32": .pcm
      case "fl32", "fl64": .float
      case "ima4": .ima4
      case "ulaw": .ulaw
      case "alaw": .alaw
      default: .other
      }
    channels = box.big(at: 32, count: 2) ?? 0
    // A rate of 16.16 bits cannot say more than 65535 Hz; the track's own clock then says it.
    let written = (box.big(at: 40, count: 4) ?? 0) >> 16
    let clock = media["mdhd"].map { $0.octets(24) }
    rate =
      written > 0
      ? written : clock.flatMap { $0.big(at: $0[0] == 1 ? 20 : 12, count: 4) } ?? 0
  }
}
