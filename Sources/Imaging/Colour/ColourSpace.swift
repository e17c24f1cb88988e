import Glibc

/// The colour space of a picture's samples.
enum ColourSpace: Equatable, Sendable {
  /// sRGB, also when the picture does not say.
  case standard
  /// An ICC profile.
  case profile([UInt8])
  /// A transfer curve, and the x and y of white, red, green and blue.
  case curve(Curve, [Double])

  static let sRGBPrimaries = [0.3127, 0.3290, 0.64, 0.33, 0.30, 0.60, 0.15, 0.06]
  private static let displayP3 = [0.3127, 0.3290, 0.680, 0.320, 0.265, 0.690, 0.150, 0.060]
  private static let bt2020 = [0.3127, 0.3290, 0.708, 0.292, 0.170, 0.797, 0.131, 0.046]

  /// By a PNG's gAMA and cHRM; 1/2.2 means sRGB, as in all programs that write it.
  init(gamma: Double?, chromaticities: [Double]?) {
    let primaries = chromaticities ?? Self.sRGBPrimaries
    let isStandard = zip(primaries, Self.sRGBPrimaries).allSatisfy { abs($0 - $1) < 0.002 }
    let exponent = gamma.map { 1 / $0 } ?? 2.2
    if isStandard, abs(exponent - 2.2) < 0.02 {
      self = .standard
    } else {
      self = .curve(abs(exponent - 2.2) < 0.02 ? .sRGB : .gamma(exponent), primaries)
    }
  }

  /// By a PNG's cICP chunk (ITU-T H.273); nil when it is not supported.
  ///
  /// HLG is shown as ordinary video, with which it is compatible, and PQ with its highlights rolled off.
  init?(codePoints: [UInt8]) {
    guard codePoints.count == 4, codePoints[2] == 0, codePoints[3] == 1 else { return nil }
    let primaries: [Double]
    switch codePoints[0] {
    case 1: primaries = Self.sRGBPrimaries
    case 9: primaries = Self.bt2020
    case 12: primaries = Self.displayP3
    default: return nil
    }
    switch codePoints[1] {
    case 13: self = codePoints[0] == 1 ? .standard : .curve(.sRGB, primaries)
    case 1, 6, 14, 15, 18: self = .curve(.video, primaries)
    case 4: self = .curve(.gamma(2.2), primaries)
    case 5: self = .curve(.gamma(2.8), primaries)
    case 8: self = .curve(.gamma(1), primaries)
    case 16: self = .curve(.quantizer, primaries)
    default: return nil
    }
  }

  /// A transfer curve from code to linear light.
  struct Curve: Equatable, Sendable {
    /// The exponent, and the further parameters of ICC's parametric type 3.
    var values = [1.0, 0, 0, 0, 0]
    /// The light of evenly spaced codes, instead of an exponent.
    var table: [Float] = []

    static func gamma(_ exponent: Double) -> Curve { Curve(values: [exponent, 0, 0, 0, 0]) }
    /// IEC 61966-2-1.
    static let sRGB = Curve(values: [2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045])
    /// ITU-R BT.709, BT.601 and BT.2020.
    static let video = Curve(values: [1 / 0.45, 1 / 1.099, 0.099 / 1.099, 1 / 4.5, 0.081])

    /// The perceptual quantizer (SMPTE ST 2084): white is 203 cd/m2 (ITU-R BT.2408), and brighter tones
    /// are rolled off into the upper two fifths of the range.
    static let quantizer = Curve(
      table: (0..<1024).map { index in
        let code = pow(Double(index) / 1023, 32 / 2523.0)
        let light = pow(
          max(code - 107 / 128.0, 0) / (2413 / 128.0 - 2392 / 128.0 * code), 8192 / 1305.0)
        let white = light * 10_000 / 203
        let knee = 0.6
        guard white > knee else { return Float(white) }
        return Float(knee + (1 - knee) * (1 - exp((knee - white) / (1 - knee))))
      })
  }
}
