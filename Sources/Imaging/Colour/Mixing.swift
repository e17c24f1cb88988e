/// Planes of full size, mixed into interleaved RGB.
enum Mixing {
  static func rgb(_ planes: [Plane], model: ColourModel, isInverted: Bool) -> Plane {
    let size = planes[0].size
    var result = Plane(size, channels: 3)
    for y in 0..<size.height {
      for x in 0..<size.width {
        let at = y * planes[0].stride + x
        let samples = planes.map { Int($0.samples[at]) }
        let pixel = pixel(samples, model: model, isInverted: isInverted)
        let target = y * result.stride + x * 3
        result.samples[target] = pixel.0
        result.samples[target + 1] = pixel.1
        result.samples[target + 2] = pixel.2
      }
    }
    return result
  }

  private static func pixel(
    _ samples: [Int], model: ColourModel, isInverted: Bool
  ) -> (UInt8, UInt8, UInt8) {
    let first: (Int, Int, Int) =
      model == .ycc || model == .ycck
      ? fromYCC(samples[0], samples[1], samples[2]) : (samples[0], samples[1], samples[2])
    guard samples.count == 4 else { return (clamp(first.0), clamp(first.1), clamp(first.2)) }
    let black = isInverted ? samples[3] : 255 - samples[3]
    func ink(_ value: Int) -> UInt8 {
      let light = isInverted ? value : 255 - value
      return clamp((Int(clamp(light)) * black + 127) / 255)
    }
    return (ink(first.0), ink(first.1), ink(first.2))
  }

  private static func fromYCC(_ y: Int, _ cb: Int, _ cr: Int) -> (Int, Int, Int) {
    let blue = cb - 128
    let red = cr - 128
    return (
      y + (91881 * red + 32768) >> 16, y - (22554 * blue + 46802 * red + 32768) >> 16,
      y + (116_130 * blue + 32768) >> 16
    )
  }

  private static func clamp(_ value: Int) -> UInt8 { UInt8(max(0, min(255, value))) }
}
