import Glibc

/// The transfer function of sRGB (IEC 61966-2-1) as tables.
enum Light {
  /// The light of each 8-bit code, from 0 to 1.
  static let ofCodes: [Float] = (0...255).map { code in
    let value = Double(code) / 255
    return Float(value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4))
  }

  /// The 8-bit code nearest to each of 65536 steps of light.
  static let toCodes: [UInt8] = (0...65535).map { step in
    let light = Double(step) / 65535
    let value = light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055
    return UInt8((value * 255).rounded())
  }
}
