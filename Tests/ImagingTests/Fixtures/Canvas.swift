import MediaTypes
@testable import Imaging

/// A picture drawn by a function, and files made of it by our own encoders.
struct Canvas: Sendable {
  typealias Pixel = (red: Int, green: Int, blue: Int, alpha: Int)

  let size: PixelSize
  let pixel: @Sendable (Int, Int) -> Pixel

  /// Smooth colours with some detail: no two places look the same.
  static func scene(_ width: Int, _ height: Int) -> Canvas {
    Canvas(size: PixelSize(width, height)) { x, y in
      let ripple = (x * x / 7 + y * y / 5) % 40
      return (
        x * 200 / width + ripple, y * 200 / height + ripple, (x + y) * 90 / (width + height) + 80,
        255
      )
    }
  }

  /// Four quadrants: red, green, blue and white, read like text.
  static func quadrants(_ width: Int, _ height: Int) -> Canvas {
    Canvas(size: PixelSize(width, height)) { x, y in
      switch (x * 2 < width, y * 2 < height) {
      case (true, true): (255, 0, 0, 255)
      case (false, true): (0, 200, 0, 255)
      case (true, false): (0, 0, 255, 255)
      case (false, false): (255, 255, 255, 255)
      }
    }
  }

  /// A disc on nothing.
  static func disc(_ edge: Int) -> Canvas {
    Canvas(size: PixelSize(edge, edge)) { x, y in
      let (dx, dy) = (2 * x - edge, 2 * y - edge)
      return (230, 40, 40, dx * dx + dy * dy < edge * edge * 3 / 4 ? 255 : 0)
    }
  }

  /// Its samples, interleaved.
  func plane(channels: Int = 3) -> Plane {
    var plane = Plane(size, channels: channels)
    for y in 0..<size.height {
      for x in 0..<size.width {
        let (red, green, blue, alpha) = pixel(x, y)
        let values = channels == 1 ? [green] : [red, green, blue, alpha]
        for c in 0..<channels {
          plane.samples[y * plane.stride + x * channels + c] = UInt8(values[c])
        }
      }
    }
    return plane
  }

  func jpeg(quality: Int = 95) throws -> [UInt8] {
    try Encoder.jpeg(Raster(planes: [plane()], model: .rgb), quality: quality).bytes
  }

  func greyJPEG() throws -> [UInt8] {
    try Encoder.jpeg(Raster(planes: [plane(channels: 1)], model: .grey), quality: 95).bytes
  }

  func png(alpha: Bool = false) throws -> [UInt8] {
    try Encoder.png(
      Raster(planes: [plane(channels: alpha ? 4 : 3)], model: alpha ? .rgba : .rgb)
    ).bytes
  }
}
