import JSON
import PluginKit
import Primitives

/// A film in a file, as `ffprobe` describes it.
struct Film {
  let path: String
  /// The pictures that are shown.
  let picture: Track
  /// The sound that is heard; nil if there is none that phones play.
  let sound: Track?
  let packets: ShownPackets
  /// Seconds.
  let duration: Double
  /// What its author should know.
  private let advice: [String]

  /// Fits into the largest output of a plugin, 64 MiB.
  private static let largestFile = 60_000_000
  /// The largest pictures, across and down, or turned.
  private static let largestPicture = (8192, 4320)

  /// Reads the description of a file.
  init(_ path: String, bytes: Int) throws(Refusal) {
    guard bytes <= Self.largestFile else {
      throw Refusal(
        "The film is \((bytes + 999_999) / 1_000_000) MB; at most \(Self.largestFile / 1_000_000) MB are "
          + "allowed. Export it shorter or smaller.")
    }
    try EditLists.check(path)
    let text = try FFmpeg.output(
      "ffprobe", ["-show_streams", "-show_format", "-of", "json"] + FFmpeg.input(path))
    guard let film = JSONTree(text), let streams = film["streams"]?.elements else {
      throw FFmpeg.damaged
    }
    let tracks = streams.compactMap { Track($0) }
    let picture = try Self.picture(of: tracks)
    for (width, height) in [picture.codedSize, picture.shownSize] {
      let (longest, shortest) = Self.largestPicture
      guard max(width, height) <= longest, min(width, height) <= shortest else {
        throw Refusal(
          "The film's pictures are \(width)x\(height) pixels; at most \(longest)x\(shortest) are allowed. "
            + "Export it smaller.")
      }
    }
    let packets = try ShownPackets(path)
    guard packets[picture].shown > 0 else { throw Self.empty }
    (self.path, self.picture, self.packets) = (path, picture, packets)
    let sounds = Self.preferred(
      tracks.filter { $0.kind == "audio" && packets[$0].shown > 0 })
    sound = try Self.sound(of: sounds, in: path)
    advice =
      PhoneCodings.advice(on: picture)
      + (sound == nil ? PhoneCodings.advice(onUnplayed: sounds) : [])
    let told = film["format"]?["duration"]?.text.flatMap(Double.init)
    duration = packets.beginsEarly ? packets.duration : told ?? 0
  }

  /// The refusal of a film whose edit list leaves nothing.
  static let empty = Refusal("This film shows no picture, only gaps. Export it again.")

  /// Tracks that players use by themselves come first.
  private static func preferred(_ tracks: [Track]) -> [Track] {
    tracks.filter(\.isDefault) + tracks.filter { !$0.isDefault }
  }

  /// The first pictures that phones play.
  private static func picture(of tracks: [Track]) throws(Refusal) -> Track {
    // The cover of a sound is a film of one picture.
    let pictures = preferred(tracks.filter { $0.kind == "video" && !$0.isCover })
    guard let first = pictures.first else {
      throw Refusal(
        status: 415, "This file has no moving picture. A sound belongs in the folder “sound”.")
    }
    if let played = pictures.first(where: { PhoneCodings.refusal(of: $0) == nil }) { return played }
    throw PhoneCodings.refusal(of: first) ?? FFmpeg.damaged
  }

  /// The first sound that phones play, or that can be coded so that they do.
  private static func sound(of sounds: [Track], in path: String) throws(Refusal) -> Track? {
    for sound in sounds where sound.isAudible && !PhoneCodings.isProtected(sound) {
      if PhoneCodings.plays(sound: sound) { return sound }
      if try isDecodable(sound, in: path) { return sound }
    }
    return nil
  }

  /// Whether the first minute of a sound can be decoded.
  private static func isDecodable(_ sound: Track, in path: String) throws(Refusal) -> Bool {
    guard let codec = sound.codec else { return false }
    if codec.hasPrefix("pcm_") { return true }
    do throws(Refusal) {
      try FFmpeg.run(
        FFmpeg.input(path) + ["-map", "0:\(sound.index)", "-t", "60", "-f", "null", "-"])
      return true
    } catch {
      guard error == FFmpeg.damaged else { throw error }
      return false
    }
  }

  /// The facts about it, as the text of a JSON object.
  var facts: String {
    let (width, height) = picture.shownSize
    let milliseconds = Int(min(max(duration, 0), 1e9) * 1000)
    return JSONText.object([
      "contentType": JSONText.quoted("video/mp4"),
      "codec": JSONText.quoted(picture.codec == "hevc" ? "hevc" : "h264"), "width": "\(width)",
      "height": "\(height)", "duration": "\(Double(milliseconds) / 1000)",
      "sound": "\(sound != nil)", "advice": advice.isEmpty ? nil : JSONText.array(advice),
    ])
  }
}
