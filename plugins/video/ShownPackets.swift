import PluginKit

/// Which packets of a film's tracks are shown, and which its edit lists hide.
struct ShownPackets {
  /// The packets of one track, in the order of the file.
  struct Part {
    fileprivate(set) var count = 0
    /// How many of them are shown.
    fileprivate(set) var shown = 0
    /// How many there are up to the last shown one.
    fileprivate(set) var end = 0
    /// Seconds of the hidden packets before that.
    fileprivate(set) var hiddenSeconds = 0.0
    private var waiting = 0.0

    fileprivate mutating func add(isShown: Bool, seconds: Double) {
      count += 1
      guard isShown else { return waiting += seconds }
      (shown, end) = (shown + 1, count)
      (hiddenSeconds, waiting) = (hiddenSeconds + waiting, 0)
    }

    /// Whether packets that are not shown are before others that are.
    var hidesSome: Bool { shown < end }
  }

  private var parts: [Int: Part] = [:]
  /// Whether packets are hidden by times before zero, as in a film of fragments.
  private(set) var beginsEarly = false
  /// Seconds to the end of the last shown packet.
  private(set) var duration = 0.0

  /// Films have fewer packets: an hour has half a million.
  private static let longestList = 32 << 20

  /// Lists the packets of a file.
  init(_ path: String) throws(Refusal) {
    let lines = try FFmpeg.output(
      "ffprobe",
      ["-show_entries", "packet=stream_index,pts_time,duration_time,flags", "-of", "csv=p=0"]
        + FFmpeg.input(path), limit: Self.longestList)
    for line in lines.split(separator: UInt8(ascii: "\n")) {
      let fields = line.split(separator: UInt8(ascii: ",")).prefix(4)
      let texts = fields.map { String(decoding: $0, as: UTF8.self) }
      guard texts.count == 4, let index = Int(texts[0]) else { continue }
      let (start, seconds) = (Double(texts[1]), Double(texts[2]) ?? 0)
      let isEarly = start.map { $0 < -0.001 } ?? false
      let isMarked = texts[3].contains("D")
      parts[index, default: Part()].add(isShown: !isMarked && !isEarly, seconds: seconds)
      if isMarked { continue }
      if isEarly { beginsEarly = true } else { duration = max(duration, (start ?? 0) + seconds) }
    }
  }

  /// The packets of a track.
  subscript(track: Track) -> Part { parts[track.index] ?? Part() }
}
