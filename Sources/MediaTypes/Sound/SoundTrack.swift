/// A sound track of ISO base media (ISO 14496-12): MP4, M4A, 3GP and QuickTime.
struct SoundTrack<Source: ByteSource> {
  let codec: Codec
  let channels: Int
  /// Hertz.
  let sampleRate: Int
  /// Whether its samples are encrypted, such as with FairPlay or Common Encryption.
  let isProtected: Bool
  let stream: ElementaryStream?
  /// Units of time in a second.
  let scale: Int
  /// The track's number, which its fragments have too.
  let id: Int
  /// The tables of its samples.
  let tables: Boxes<Source>
  /// Samples in a packet, of the codecs that have a fixed number; nil for others.
  let packetSamples: Int?
  private let track: Boxes<Source>

  /// Reads a `trak` box; nil when it is no sound.
  init?(_ track: Boxes<Source>) {
    guard let media = track["mdia"], media.handler == "soun", let tables = media["minf"]?["stbl"],
      let entries = tables["stsd"], case let entry = entries.octets(80), entry.count >= 44
    else { return nil }
    let code = entry.code(at: 12)
    // QuickTime has more fields in its versions 1 and 2, before the boxes.
    let version = entry.big(at: 24, count: 2) ?? 0
    let boxes = entries.dropping(version == 1 ? 60 : version == 2 ? 80 : 44)
    let clock = media["mdhd"]?.clock
    let stream = code == "mp4a" ? ElementaryStream(in: boxes) : nil
    self.stream = stream
    (self.track, self.tables) = (track, tables)
    isProtected = ["drms", "drmi", "enca"].contains(code) || boxes["sinf"] != nil
    codec = stream?.codec ?? Codec(code: code)
    if version == 2 {
      channels = entry.big(at: 56, count: 4) ?? 0
      sampleRate = entry.double(at: 48).flatMap { Int(exactly: $0.rounded()) } ?? 0
    } else {
      channels = stream?.aac?.channels ?? entry.big(at: 32, count: 2) ?? 0
      // The rate has 16.16 bits, which cannot say more than 65535 Hz; the track's own clock then says it.
      let rate = (entry.big(at: 40, count: 4) ?? 0) >> 16
      sampleRate = stream?.aac?.sampleRate ?? (rate > 0 ? rate : clock?.scale ?? 0)
    }
    scale = clock?.scale ?? sampleRate
    let head = track["tkhd"]?.octets(24)
    id = head.flatMap { $0.big(at: $0[0] == 1 ? 20 : 12, count: 4) } ?? 0
    packetSamples =
      switch codec {
      case .aac: stream?.aac?.packetSamples
      case .alac: boxes["alac"]?.octets(8).big(at: 4, count: 4)
      case .pcm, .float, .alaw, .ulaw: 1
      default: nil
      }
  }

  /// Hertz of the samples in a packet.
  var packetRate: Int { stream?.aac?.coreRate ?? sampleRate }

  /// The parts of the track that are played, in its units of time; nil without an edit list, which
  /// counts in `movieScale` units a second.
  func edits(movieScale: Int) -> [Range<Int>]? {
    guard let list = EditList(of: track), movieScale > 0 else { return nil }
    let edits = list.edits.compactMap { edit -> Range<Int>? in
      guard let start = edit.start, start < 1 << 62 else { return nil }
      let ticks = Double(edit.duration) * Double(scale) / Double(movieScale)
      guard edit.duration > 0, ticks < Double(1 << 61) else { return start..<(.max) }
      return start..<start + Int(ticks.rounded())
    }
    return edits.isEmpty ? nil : edits
  }
}

extension Boxes {
  /// The sound track of a movie that is played: the first one that phones have a decoder for, else the first.
  var soundTrack: SoundTrack<Source>? {
    let tracks = all("trak").compactMap { SoundTrack($0) }
    let usual: Set<Codec> = [.aac, .alac, .mp3, .amr, .pcm, .float, .alaw, .ulaw, .ima4]
    return tracks.first { usual.contains($0.codec) && !$0.isProtected } ?? tracks.first
  }

  /// The length and its units a second, in `mvhd` and `mdhd` of either version.
  var clock: (length: Int, scale: Int)? {
    let octets = octets(32)
    let isLong = octets[0] == 1
    guard let scale = octets.big(at: isLong ? 20 : 12, count: 4), scale > 0 else { return nil }
    return (octets.big(at: isLong ? 24 : 16, count: isLong ? 8 : 4) ?? 0, scale)
  }
}
