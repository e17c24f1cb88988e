import Foundation

/// CIE L*a*b* of sRGB (IEC 61966-2-1, white D65), to compare colours as an eye does.
struct Lab {
  let l: Double
  let a: Double
  let b: Double

  init(_ l: Double, _ a: Double, _ b: Double) { (self.l, self.a, self.b) = (l, a, b) }

  /// Of codes from 0 to 255.
  init(red: Double, green: Double, blue: Double) {
    let (r, g, b) = (Self.light(red), Self.light(green), Self.light(blue))
    let x = Self.root((0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / 0.95047)
    let y = Self.root(0.2126729 * r + 0.7151522 * g + 0.0721750 * b)
    let z = Self.root((0.0193339 * r + 0.1191920 * g + 0.9503041 * b) / 1.08883)
    self.init(116 * y - 16, 500 * (x - y), 200 * (y - z))
  }

  /// The light of a code from 0 to 255.
  static func light(_ code: Double) -> Double {
    let value = min(max(code / 255, 0), 1)
    return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
  }

  private static func root(_ t: Double) -> Double {
    t > 216 / 24389.0 ? cbrt(t) : (24389 / 27.0 * t + 16) / 116
  }

  /// CIEDE2000 (Sharma, Wu and Dalal 2005).
  func difference(from other: Lab) -> Double {
    let meanChroma = (hypot(a, b) + hypot(other.a, other.b)) / 2
    let stretch = 1.5 - 0.5 * Self.saturation(meanChroma)
    let (a1, a2) = (a * stretch, other.a * stretch)
    let (c1, c2) = (hypot(a1, b), hypot(a2, other.b))
    let (h1, h2) = (Self.angle(a1, b), Self.angle(a2, other.b))
    var turn = c1 * c2 == 0 ? 0 : h2 - h1
    if turn > 180 { turn -= 360 } else if turn < -180 { turn += 360 }
    var hue = h1 + h2
    if c1 * c2 != 0 {
      hue = abs(h1 - h2) <= 180 ? hue / 2 : hue < 360 ? (hue + 360) / 2 : (hue - 360) / 2
    }
    let (meanL, meanC) = ((l + other.l) / 2, (c1 + c2) / 2)
    let t =
      1 - 0.17 * Self.cosine(hue - 30) + 0.24 * Self.cosine(2 * hue)
      + 0.32 * Self.cosine(3 * hue + 6) - 0.2 * Self.cosine(4 * hue - 63)
    let middle = (meanL - 50) * (meanL - 50)
    let dl = (other.l - l) / (1 + 0.015 * middle / (20 + middle).squareRoot())
    let dc = (c2 - c1) / (1 + 0.045 * meanC)
    let dh =
      2 * (c1 * c2).squareRoot() * sin(turn / 2 * .pi / 180) / (1 + 0.015 * meanC * t)
    let blueness = 30 * exp(-((hue - 275) / 25) * ((hue - 275) / 25))
    let rotation = -2 * Self.saturation(meanC) * sin(2 * blueness * .pi / 180)
    return (dl * dl + dc * dc + dh * dh + rotation * dc * dh).squareRoot()
  }

  private static func saturation(_ chroma: Double) -> Double {
    let seventh = pow(chroma, 7)
    return (seventh / (seventh + pow(25, 7))).squareRoot()
  }

  private static func angle(_ a: Double, _ b: Double) -> Double {
    let degrees = atan2(b, a) * 180 / .pi
    return degrees < 0 ? degrees + 360 : degrees
  }

  private static func cosine(_ degrees: Double) -> Double { cos(degrees * .pi / 180) }
}
