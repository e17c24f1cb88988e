import Glibc

extension ColourSpace {
  /// A transfer curve from code to light.
  struct Curve: Equatable, Sendable {
    /// The exponent, and what ICC's parametric type 3 has behind it.
    var values = [1.0, 0, 0, 0, 0]
    /// The light of evenly spaced codes, where no exponent says it.
    var table: [Float] = []

    static func gamma(_ exponent: Double) -> Curve { Curve(values: [exponent, 0, 0, 0, 0]) }
    /// IEC 61966-2-1.
    static let sRGB = Curve(values: [2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045])
    /// ITU-R BT.709, BT.601 and BT.2020.
    static let video = Curve(values: [1 / 0.45, 1 / 1.099, 0.099 / 1.099, 1 / 4.5, 0.081])

    /// The perceptual quantizer (SMPTE ST 2084): white is 203 cd/m2 (ITU-R BT.2408), and what is brighter is
    /// rolled off into the upper two fifths of the range.
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
