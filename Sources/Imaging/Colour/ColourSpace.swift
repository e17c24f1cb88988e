/// How the numbers of a picture become light.
enum ColourSpace: Equatable, Sendable {
  /// sRGB, or nothing said.
  case standard
  /// An ICC profile.
  case profile([UInt8])
  /// A transfer curve, and white, red, green and blue as x y pairs.
  case curve(Curve, [Double])

  static let sRGBPrimaries = [0.3127, 0.3290, 0.64, 0.33, 0.30, 0.60, 0.15, 0.06]
  private static let displayP3 = [0.3127, 0.3290, 0.680, 0.320, 0.265, 0.690, 0.150, 0.060]
  private static let bt2020 = [0.3127, 0.3290, 0.708, 0.292, 0.170, 0.797, 0.131, 0.046]

  /// Of a PNG's gAMA and cHRM; what says 1/2.2 means sRGB, as in every program that writes it.
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

  /// Of a PNG's cICP chunk (ITU-T H.273); nil for what is not handled.
  ///
  /// HLG is shown as the ordinary video it was made to look like, PQ with its highlights rolled off.
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
}
