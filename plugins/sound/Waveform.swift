import Imaging
import MediaTypes
import PluginKit

/// A picture of a sound: a bar for every few pixels, as high as the sound is loud.
struct Waveform {
  private let size: PixelSize
  /// The height of each bar from 0 to 1.
  private let levels: [Float]
  /// Pixels of the picture for each unit of the drawing.
  private let scale: Int

  private static let barWidth = 4
  private static let barStep = 6

  /// Measures the samples for a picture of the requested size, 640 by 160 by default.
  init(_ source: any Levels, _ request: PluginRequest) throws {
    let dpr = min(max(request.dpr ?? 1, 1), 4)
    let width = Double(request.width ?? request.height.map { $0 * 4 } ?? 640)
    let height = Double(request.height ?? (request.width.map { $0 / 4 } ?? 160))
    size = PixelSize(
      min(max(Int(width * dpr), 16), 2560), min(max(Int(height * dpr), 16), 1440))
    scale = max(1, Int(dpr))
    let count = max(1, (size.width + 2 * scale) / (Self.barStep * scale))
    var levels = [Float](repeating: 0, count: count)
    let frames = max(1, source.frames)
    try source.forEachFrame { frame, level in
      let bar = min(frame * count / frames, count - 1)
      levels[bar] = max(levels[bar], level)
    }
    let loudest = max(levels.max() ?? 0, 0.001)
    self.levels = levels.map { ($0 / loudest).squareRoot() }
  }

  /// The picture as a PNG with a transparent background, which suits light and dark screens.
  func png() throws(ImagingError) -> [UInt8] {
    var canvas = Canvas(size)
    let radius = Float(Self.barWidth * scale) / 2
    let middle = Float(size.height) / 2
    for (index, level) in levels.enumerated() {
      let left = index * Self.barStep * scale
      let reach = max(level * (middle - 1), radius) - radius
      for x in left..<min(left + Self.barWidth * scale, size.width) {
        let across = Float(x - left) + 0.5 - radius
        for y in 0..<size.height {
          // How far the pixel is outside the bar, whose ends are round.
          let down = max(abs(Float(y) + 0.5 - middle) - reach, 0)
          let outside = (across * across + down * down).squareRoot() - radius
          let cover = min(max(0.5 - outside, 0), 1)
          if cover > 0 { canvas.set(x: x, y: y, to: colour(x, alpha: cover)) }
        }
      }
    }
    return try canvas.png()
  }

  /// From violet on the left to blue on the right.
  private func colour(_ x: Int, alpha: Float) -> SIMD4<UInt8> {
    let place = Float(x) / Float(size.width)
    let mix = { (left: Float, right: Float) in UInt8(left + (right - left) * place) }
    return SIMD4(mix(92, 13), mix(79, 178), mix(242, 237), UInt8(alpha * 255))
  }
}
