import JSON

/// A track of a film, as `ffprobe` describes it.
struct Track {
  /// Its number in the file.
  let index: Int
  /// `video`, `audio` or other data.
  let kind: String
  /// How it is coded; nil if `ffprobe` does not know it.
  let codec: String?
  /// The four-character code of its samples, such as `avc1`.
  let code: String
  let profile: String?
  /// As its codec counts it: 52 is H.264's level 5.2, 153 is HEVC's level 5.1.
  let level: Int
  /// The layout of its pixels, such as `yuv420p10le`; nil for sounds and what could not be decoded.
  let pixels: String?
  /// The size of its pictures as they are coded.
  let codedSize: (width: Int, height: Int)
  /// How much wider than high a pixel is shown.
  let pixelRatio: (width: Int, height: Int)
  let orientation: FilmOrientation
  /// Whether its light is that of HDR (PQ or HLG).
  let isHDR: Bool
  let isInterlaced: Bool
  /// Whether it is the picture on the cover of a sound.
  let isCover: Bool
  /// Whether players use it unless somebody chooses another one.
  let isDefault: Bool
  /// Whether it has a number of channels and a sample rate.
  let isAudible: Bool

  init?(_ stream: JSONTree) {
    guard let index = stream["index"]?.integer, let kind = stream["codec_type"]?.text else {
      return nil
    }
    func text(_ name: String) -> String? {
      stream[name]?.text.flatMap { ["unknown", "N/A"].contains($0) ? nil : $0 }
    }
    func isMarked(_ name: String) -> Bool { stream["disposition"]?[name]?.integer == 1 }
    (self.index, self.kind) = (index, kind)
    codec = text("codec_name").flatMap { $0 == "none" ? nil : $0 }
    code = text("codec_tag_string") ?? ""
    profile = text("profile")
    level = stream["level"]?.integer ?? 0
    pixels = text("pix_fmt")
    codedSize = (stream["width"]?.integer ?? 0, stream["height"]?.integer ?? 0)
    let ratio = text("sample_aspect_ratio")?.split(separator: ":").compactMap { Int($0) } ?? []
    pixelRatio = ratio.count == 2 && ratio.allSatisfy { $0 > 0 } ? (ratio[0], ratio[1]) : (1, 1)
    let sides = stream["side_data_list"]?.elements ?? []
    orientation = FilmOrientation(sides.compactMap { $0["displaymatrix"]?.text }.first ?? "")
    isHDR = ["smpte2084", "arib-std-b67"].contains(text("color_transfer"))
    isInterlaced = ["tt", "bb", "tb", "bt"].contains(text("field_order"))
    (isCover, isDefault) = (isMarked("attached_pic"), isMarked("default"))
    isAudible =
      stream["channels"]?.integer ?? 0 > 0 && Int(text("sample_rate") ?? "") ?? 0 > 0
  }

  /// The size of its pictures as they are shown, before they are turned: as in Chromium, one side is stretched.
  var stretchedSize: (width: Int, height: Int) {
    let ratio = Double(pixelRatio.width) / Double(pixelRatio.height)
    let (width, height) = codedSize
    func stretched(_ side: Int, _ factor: Double) -> Int {
      Int((Double(side) * factor).rounded())
    }
    return ratio > 1
      ? (stretched(width, ratio), height) : (width, stretched(height, 1 / ratio))
  }

  /// The size of its pictures as they are shown.
  var shownSize: (width: Int, height: Int) {
    let (width, height) = stretchedSize
    return orientation.isTurned ? (height, width) : (width, height)
  }
}
