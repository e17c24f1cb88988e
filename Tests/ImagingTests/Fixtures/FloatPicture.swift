import Foundation

import MediaTypes
@testable import Imaging

/// A picture in 64-bit floating point, as a measure of what is made in integers.
struct FloatPicture {
  let size: PixelSize
  /// Red, green and blue codes from 0 to 255, interleaved.
  let samples: [Double]

  init(_ map: PortableMap) {
    size = map.size
    samples =
      map.channels == 3 && map.maximum == 255
      ? map.samples.map(Double.init)
      : (0..<size.pixels).flatMap { at in
        map.colour(at % map.size.width, at / map.size.width).prefix(3).map(Double.init)
      }
  }

  private init(_ size: PixelSize, _ samples: [Double]) {
    (self.size, self.samples) = (size, samples)
  }

  /// What a JPEG or PNG decodes to by another program, at its full size.
  init(decoding bytes: [UInt8]) throws {
    let command = bytes.starts(with: [0xFF, 0xD8]) ? "djpeg -dct float" : "pngtopam"
    guard let map = PortableMap(try Tool.run(command, bytes)) else {
      throw Tool.Failure(command: command)
    }
    self.init(map)
  }

  /// The picture as a PPM of 8 bits.
  var map: [UInt8] {
    Array("P6 \(size.width) \(size.height) 255\n".utf8) + samples.map { UInt8($0.rounded()) }
  }

  /// Shrunk by Lanczos-3 or by the area each pixel covers, as codes or as light.
  func shrunk(
    to target: PixelSize, inLight: Bool = false, byArea: Bool = false
  ) -> FloatPicture {
    var values = inLight ? samples.map(Lab.light) : samples.map { $0 / 255 }
    values = Self.blended(
      values, lines: size.height, from: size.width, to: target.width, next: 3, line: size.width * 3,
      byArea: byArea)
    values = Self.blended(
      values, lines: target.width, from: size.height, to: target.height, next: target.width * 3,
      line: 3, byArea: byArea)
    return FloatPicture(
      target,
      values.map { value in
        let value = min(max(value, 0), 1)
        guard inLight else { return value * 255 }
        return 255 * (value <= 0.0031308 ? value * 12.92 : 1.055 * pow(value, 1 / 2.4) - 0.055)
      })
  }

  /// Blends along one axis: `next` is the distance of neighbours, `line` that of lines.
  private static func blended(
    _ values: [Double], lines: Int, from count: Int, to target: Int, next: Int, line: Int,
    byArea: Bool
  ) -> [Double] {
    let isAcross = next == 3
    var result = [Double](repeating: 0, count: lines * target * 3)
    let step = Double(count) / Double(target)
    let stretch = max(step, 1)
    values.withUnsafeBufferPointer { values in
      result.withUnsafeMutableBufferPointer { result in
        for index in 0..<target {
          let centre = (Double(index) + 0.5) * step
          let low = max(0, Int((centre - 3 * stretch).rounded(.up)))
          let reach = low..<min(count, Int((centre + 3 * stretch).rounded(.down)) + 1)
          let weights = reach.map { sample in
            let place = Double(sample) + 0.5 - centre
            return byArea
              ? min(1, max(0, (stretch + 1) / 2 - abs(place))) : lanczos(place / stretch)
          }
          let sum = weights.reduce(0, +)
          for at in 0..<lines {
            let out = isAcross ? (at * target + index) * 3 : (index * lines + at) * 3
            var from = at * line + low * next
            for weight in weights {
              let share = weight / sum
              result[out] += share * values[from]
              result[out + 1] += share * values[from + 1]
              result[out + 2] += share * values[from + 2]
              from += next
            }
          }
        }
      }
    }
    return result
  }

  private static func lanczos(_ x: Double) -> Double {
    if abs(x) < 1e-12 { return 1 }
    if abs(x) >= 3 { return 0 }
    return 3 * sin(.pi * x) * sin(.pi * x / 3) / (.pi * .pi * x * x)
  }
}

extension FloatPicture {
  /// The luma of each pixel (ITU-R BT.601).
  var luma: [Double] {
    (0..<size.pixels).map { index in
      let at = index * 3
      return 0.299 * samples[at] + 0.587 * samples[at + 1] + 0.114 * samples[at + 2]
    }
  }

  /// The luma averaged over squares of 4 by 4: broad patterns stay, fine ones go.
  var blurred: [Double] {
    let luma = luma
    return stride(from: 0, to: size.height - 3, by: 4).flatMap { y in
      stride(from: 0, to: size.width - 3, by: 4).map { x in
        (0..<16).reduce(0) { $0 + luma[(y + $1 / 4) * size.width + x + $1 % 4] } / 16
      }
    }
  }

  /// Mean structural similarity of the luma, in windows of 8 by 8 (Wang, Bovik, Sheikh and Simoncelli 2004).
  func similarity(to other: FloatPicture) -> Double {
    let (one, two) = (luma, other.luma)
    var total = 0.0
    var count = 0.0
    for y in stride(from: 0, through: max(0, size.height - 8), by: 2) {
      for x in stride(from: 0, through: max(0, size.width - 8), by: 2) {
        var (a, b, aa, bb, ab, n) = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        for row in y..<min(y + 8, size.height) {
          for at in row * size.width + x..<row * size.width + min(x + 8, size.width) {
            let (p, q) = (one[at], two[at])
            a += p
            b += q
            aa += p * p
            bb += q * q
            ab += p * q
            n += 1
          }
        }
        (a, b) = (a / n, b / n)
        let (va, vb, vab) = (aa / n - a * a, bb / n - b * b, ab / n - a * b)
        total +=
          (2 * a * b + 6.5025) * (2 * vab + 58.5225)
          / ((a * a + b * b + 6.5025) * (va + vb + 58.5225))
        count += 1
      }
    }
    return total / count
  }

  /// The mean CIEDE2000 of all pixels.
  func difference(from other: FloatPicture) -> Double {
    let sum = (0..<size.pixels).reduce(0.0) { sum, index in
      func lab(_ s: [Double]) -> Lab {
        Lab(red: s[index * 3], green: s[index * 3 + 1], blue: s[index * 3 + 2])
      }
      return sum + lab(samples).difference(from: lab(other.samples))
    }
    return sum / Double(size.pixels)
  }
}
