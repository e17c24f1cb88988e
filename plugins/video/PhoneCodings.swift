import PluginKit

/// What iPhones and Android phones play, as docs/FILMS.md lists it with its sources.
enum PhoneCodings {
  private struct Coding {
    let name: String
    let profiles: Set<String>
    let pixels: Set<String>
    /// The highest level, and how many of the codec's units are one.
    let level: Int
    let units: Int
  }

  private static let codings = [
    "h264": Coding(
      name: "H.264", profiles: ["Baseline", "Constrained Baseline", "Main", "High"],
      pixels: ["yuv420p", "yuvj420p"], level: 52, units: 10),
    "hevc": Coding(
      name: "HEVC", profiles: ["Main", "Main 10", "Main Still Picture"],
      pixels: ["yuv420p", "yuvj420p", "yuv420p10le"], level: 153, units: 30),
  ]

  /// The sounds that iPhones, Android phones and browsers play in an MP4.
  private static let sounds: Set = ["aac", "mp3"]
  /// Samples that are encrypted for one player.
  private static let protectedCodes: Set = ["encv", "drmi", "enca", "drms"]

  /// Whether a sound need not be coded again.
  static func plays(sound: Track) -> Bool { sounds.contains(sound.codec ?? "") }

  static func isProtected(_ track: Track) -> Bool { protectedCodes.contains(track.code) }

  /// Why phones do not play a track of pictures; nil if they do.
  static func refusal(of picture: Track) -> Refusal? {
    if isProtected(picture) {
      return Refusal(
        status: 415,
        "This film is protected against copying (DRM), so other people's phones can't play it. Use one "
          + "without protection.", detail: "the samples are \(picture.code)")
    }
    guard let coding = codings[picture.codec ?? ""] else {
      return Refusal(
        status: 415,
        "This film is coded in a way that phones can't play. Export it as MP4 with H.264.",
        detail: "the codec is \(picture.codec ?? picture.code)")
    }
    let isPlayed =
      picture.profile.map { coding.profiles.contains($0) } ?? true
      && picture.pixels.map { coding.pixels.contains($0) } ?? true
    guard !isPlayed else { return nil }
    return Refusal(
      status: 415,
      "This film is \(coding.name) with \(kind(of: picture)), which phones can't play. Export it as MP4 with "
        + "H.264, 4:2:0 and 8 bits.",
      detail: "profile \(picture.profile ?? "unknown"), pixels \(picture.pixels ?? "unknown")")
  }

  /// What is unusual about pictures: `4:2:2 and 10 bits`.
  private static func kind(of picture: Track) -> String {
    let pixels = picture.pixels ?? ""
    let colours = [
      "444": "4:4:4", "422": "4:2:2", "420": "4:2:0", "gray": "grey only", "gbr": "RGB",
    ]
    let colour = colours.first { pixels.contains($0.key) }?.value
    let bits = ["9", "10", "12", "14", "16"].first {
      pixels.hasSuffix($0 + "le") || pixels.hasSuffix($0 + "be") || pixels.hasSuffix("p" + $0)
    }
    guard let colour, colour != "4:2:0" || bits != nil else {
      return "the profile “\(picture.profile ?? "unknown")”"
    }
    return "\(colour) and \(bits ?? "8") bits"
  }

  /// What some phones show badly; empty for most films.
  static func advice(on picture: Track) -> [String] {
    guard let coding = codings[picture.codec ?? ""] else { return [] }
    var advice: [String] = []
    if picture.level > coding.level {
      advice.append(
        "Many phones can't play it: its level of \(coding.name) is \(number(picture.level, coding)), they play "
          + "\(number(coding.level, coding)) at most. Export it with fewer pixels or pictures a second."
      )
    }
    if picture.isInterlaced {
      advice.append(
        "It is interlaced, so phones may show stripes where something moves. Export it progressive."
      )
    }
    return advice
  }

  private static func number(_ level: Int, _ coding: Coding) -> String {
    "\(level / coding.units).\(level % coding.units * 10 / coding.units)"
  }

  /// The advice on a film without a sound that phones play.
  static func advice(onUnplayed sounds: [Track]) -> [String] {
    guard let first = sounds.first else { return [] }
    // Bytes that are no text are in brackets.
    let isReadable =
      !first.code.isEmpty
      && first.code.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "[") }
    let name = isProtected(first) ? "protected against copying" : first.code.uppercased()
    let kind = isReadable ? " (\(name))" : ""
    return ["It is sent without its sound, which phones can't play\(kind). Export it with AAC."]
  }
}
