import Glibc

/// How loud a sound gets.
struct Loudness {
  /// The loudest sample against full scale in decibels, 0 at most; nil for silence.
  let peak: Double?
  /// Whether some stretch stands at full scale, as a recording does that was made too loud.
  let isClipped: Bool

  /// How many samples at full scale in a row are heard as distortion.
  private static let clippedRun = 4

  init(_ levels: any Levels) throws {
    var loudest: Float = 0
    var run = 0
    var longest = 0
    try levels.forEachFrame { _, level in
      loudest = max(loudest, level)
      run = level > 0.9999 ? run + 1 : 0
      longest = max(longest, run)
    }
    peak = loudest > 0 ? (200 * log10(Double(loudest))).rounded() / 10 : nil
    isClipped = longest >= Self.clippedRun
  }

  /// What the publisher should do about it.
  var advice: [String] {
    guard let peak else { return ["The sound is silent."] }
    if isClipped {
      return ["It is too loud and will sound distorted. Record it at a lower level."]
    }
    return peak < -30 ? ["It is very quiet; people may not hear it. Make it louder."] : []
  }
}
