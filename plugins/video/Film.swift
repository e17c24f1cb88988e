import Glibc
import JSON
import PluginKit

/// A film in a file, as `ffprobe` describes it.
struct Film {
  private let path: String
  private let picture: JSONTree
  private let sound: JSONTree?
  /// Seconds.
  private let duration: Double

  /// Fits into the largest output of a plugin, 64 MiB.
  private static let largestFile = 60_000_000
  /// The largest pictures, across and down, or turned.
  private static let largestPicture = (8192, 4320)
  /// What iPhones and Android phones play.
  private static let codecs: Set = ["h264", "hevc"]
  /// The sounds that need not be coded again for MP4.
  private static let soundCodecs: Set = ["aac", "mp3", "alac", "ac3", "eac3"]

  /// Reads the description of a file.
  init(_ path: String, bytes: Int) throws(Refusal) {
    guard bytes <= Self.largestFile else {
      throw Refusal(
        "The film is \((bytes + 999_999) / 1_000_000) MB; at most \(Self.largestFile / 1_000_000) MB are "
          + "allowed. Export it shorter or smaller.")
    }
    let text = try FFmpeg.output(
      "ffprobe", ["-show_streams", "-show_format", "-of", "json"] + FFmpeg.input(path))
    guard let film = JSONTree(text), let streams = film["streams"]?.elements else {
      throw FFmpeg.damaged
    }
    // The cover of a sound is a film of one picture.
    let pictures = streams.filter {
      $0["codec_type"]?.text == "video" && $0["disposition"]?["attached_pic"]?.integer != 1
    }
    guard let picture = pictures.first else {
      throw Refusal(
        status: 415, "This file has no moving picture. A sound belongs in the folder “sound”.")
    }
    guard Self.codecs.contains(picture.codec ?? "") else {
      throw Refusal(
        status: 415,
        "This film is coded in a way that phones can't play. Export it as MP4 with H.264.",
        detail: "the codec is \(picture.codec ?? "unknown")")
    }
    let (width, height) = picture.codedSize
    let (longest, shortest) = Self.largestPicture
    guard max(width, height) <= longest, min(width, height) <= shortest else {
      throw Refusal(
        "The film's pictures are \(width)x\(height) pixels; at most \(longest)x\(shortest) are allowed. "
          + "Export it smaller.")
    }
    (self.path, self.picture) = (path, picture)
    sound = streams.first { $0["codec_type"]?.text == "audio" }
    duration = film["format"]?["duration"]?.text.flatMap(Double.init) ?? 0
  }

  /// The facts about it, as the text of a JSON object.
  var facts: String {
    let sides = picture["side_data_list"]?.elements ?? []
    let turn = sides.compactMap { $0["rotation"]?.integer }.first ?? 0
    let (width, height) = picture.codedSize
    let size = turn % 180 == 0 ? (width, height) : (height, width)
    let milliseconds = Int(min(max(duration, 0), 1e9) * 1000)
    return """
      {"contentType":"video/mp4","codec":"\(picture.codec == "hevc" ? "hevc" : "h264")",\
      "width":\(size.0),"height":\(size.1),"duration":\(Double(milliseconds) / 1000),\
      "sound":\(sound != nil)}
      """
  }

  /// Writes the same film as an MP4 that begins with its index, without metadata and other tracks.
  func remux(to output: String) throws(Refusal) {
    let isPlayed = sound.map { Self.soundCodecs.contains($0.codec ?? "") } ?? true
    try FFmpeg.run(
      FFmpeg.input(path) + ["-map", "0:V:0", "-map", "0:a:0?", "-c", "copy"]
        + (isPlayed ? [] : ["-c:a", "aac"])
        // The name by which iPhones play it.
        + (picture.codec == "hevc" ? ["-tag:v", "hvc1"] : [])
        + ["-map_metadata", "-1", "-map_metadata:s", "-1", "-map_chapters", "-1"]
        + ["-fflags", "+bitexact", "-flags", "+bitexact"]
        + ["-movflags", "+faststart", "-f", "mp4", output])
  }

  /// Writes a JPEG of a typical picture that is not mostly black.
  func drawPoster(to output: String) throws(Refusal) {
    // Looks at no more than this many pictures, of which there may be a million.
    let few = "trim=end_frame=240,"
    let isBright =
      "blackframe=0:32,metadata=select:key=lavfi.blackframe.pblack:value=70:function=less,"
    // The first filter can leave nothing of a dark film.
    for choice in [isBright, ""] {
      try FFmpeg.run(
        ["-skip_frame", "nokey"] + FFmpeg.input(path) + ["-map", "0:V:0"]
          + ["-vf", few + choice + "scale=w='min(iw,1920)':h=-2,thumbnail=12," + conversion]
          + ["-frames:v", "1", "-q:v", "1", "-f", "image2", "-update", "1", output])
      if access(output, F_OK) == 0 { return }
    }
    throw FFmpeg.damaged
  }

  /// To the range and matrix of JPEG; the light of HDR (PQ and HLG) is rolled off.
  private var conversion: String {
    let isHDR = ["smpte2084", "arib-std-b67"].contains(picture["color_transfer"]?.text ?? "")
    let light =
      "zscale=t=linear:npl=203,format=gbrpf32le,zscale=p=bt709,tonemap=hable,"
      + "zscale=t=bt709:m=bt709:r=tv,format=yuv420p,"
    return (isHDR ? light : "") + "scale=out_color_matrix=smpte170m:out_range=pc,format=yuvj444p"
  }
}

extension JSONTree {
  /// How a stream is coded.
  fileprivate var codec: String? { self["codec_name"]?.text }

  /// The size of its pictures, before they are turned.
  fileprivate var codedSize: (width: Int, height: Int) {
    (self["width"]?.integer ?? 0, self["height"]?.integer ?? 0)
  }
}
